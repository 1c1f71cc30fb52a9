"""`pro0 agent install-skill`."""

import os
from pathlib import Path

import click

from pro0 import looking
from pro0.agents import adapter_named
from pro0.cli.output import write
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Refused
from pro0.model.agent import AGENTS
from pro0.rules.words.skill import NAME, SKILL

FILE = "SKILL.md"


@click.command("install-skill")
@click.argument("agents", nargs=-1, metavar="[AGENT...]")
@click.option("--project", is_flag=True, help="Put it below this directory instead of your home.")
@click.option("--force", is_flag=True, help="Replace a file with other content.")
def install_skill(agents: tuple[str, ...], project: bool, force: bool) -> None:
    """Install the skill “work in a pro0 team” for agents, in the folders where they look for skills.

    Without AGENT it does so for all agents that look for skills. A file with other content stays, unless --force is
    given.

    \b
    Examples:
      pro0 agent install-skill
      pro0 agent install-skill claude --project
    """
    root = Path.cwd() if project else Path.home()
    for path in dict.fromkeys(root / folder / NAME / FILE for folder in _folders(agents)):
        _install(path, force=force)


def _folders(agents: tuple[str, ...]) -> list[str]:
    """Return the skill folders of these agents, or of all; raises BadInput for an agent without a skill folder."""
    by_agent = {name: adapter_named(name).skills for name in agents or AGENTS}
    for name, folder in by_agent.items():
        if agents and not folder:
            raise BadInput(f"{name} looks for no skills", hint="leave the name out for all agents that do")
    return [folder for folder in by_agent.values() if folder]


def _install(path: Path, *, force: bool) -> None:
    if looking.is_link(path) or (looking.exists(path) and path.read_text(errors="replace") != SKILL and not force):
        raise Refused(f"{path} exists, with other content", code=ErrorCode.CONFLICT, hint="--force replaces it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.new")
        new.write_text(SKILL)
        os.replace(new, path)
    except OSError as error:
        raise EnvironmentMissing(f"{path} cannot be written: {error.strerror}", code=ErrorCode.UNSAFE_PATH) from None
    write(str(path))
