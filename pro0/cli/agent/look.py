"""`pro0 agent list` and `explain`."""

import os
from typing import TYPE_CHECKING

import click

from pro0.agents import defined
from pro0.agents.drawings import drawing_named
from pro0.cli.context import project_here
from pro0.cli.named_file import data_of
from pro0.cli.output import json_option, live, name_option, pairs, say, table, write, write_json
from pro0.config import Settings
from pro0.errors import BadInput, NotFound
from pro0.model.agent import DRAWN, offered
from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.ops import trust
from pro0.rules.screens import screens
from pro0.rules.screens.escapes import screen_of
from pro0.rules.screens.screens import Drawing, Evidence
from pro0.rules.screens.states import combine
from pro0.rules.text import visible
from pro0.store import paths

if TYPE_CHECKING:
    from pro0.cli.agent.programs import AgentProgram

LIMIT = 1024 * 1024
"""The most bytes of a screen file."""


@click.command("list")
@json_option
@name_option
def list_agents(as_json: bool, output: str | None) -> None:
    """List the agents that members can run: what is installed, what is missing, how their states are known.

    The list includes agents that the settings in this directory define.

    STATE lists where pro0 reads an agent's state, the most trusted source first: own (the agent's own files, events or
    server), title, screen, process. MAIL lists how the agent learns of mail: own (its own channel), turn-end (it asks
    at the end of a turn), mailbox (it watches its mailbox), line (one fixed line in its pane), or - for not at all.
    Each program is asked for its version, for at most 10 s.

    SEEN is the newest version with which the rules for the agent's states were proved. Lines below the table name what
    `pro0 agent prove` has switched off on this machine.

    --json prints [{agent, program, path, version, seen, unproved, proved, off, usable, missing, state, delivery,
    resumes}].

    \b
    Examples:
      pro0 agent list
      pro0 agent list --json | jq -r '.[] | select(.usable) | .agent'
    """
    agents = _settings().agents
    if output == "name":
        for name in sorted({*offered(), *agents}):
            write(name)
        return
    from pro0.cli.agent.programs import programs, switched_off, unproved

    with live() as show:
        listed = programs(agents, paths.home(os.environ), show)
    if as_json:
        write_json(listed)
        return
    table(("AGENT", "USABLE", "VERSION", "SEEN", "STATE", "MAIL", "PATH"), [_row(program) for program in listed])
    for program in listed:
        for sentence in filter(None, (unproved(program), switched_off(program))):
            say(f"{program.agent}: {sentence}")
        for sentence in program.missing:
            say(sentence if sentence.startswith(f"{program.agent} ") else f"{program.agent}: {sentence}")


def _row(program: "AgentProgram") -> tuple[str, ...]:
    usable = "yes" if program.usable else "no"
    return (
        program.agent,
        usable,
        program.version,
        program.seen or "-",
        " ".join(program.state),
        " ".join(program.delivery) or "-",
        program.path or "-",
    )


def _settings() -> Settings:
    return trust.settings(paths.home(os.environ), project_here(), os.environ)


@click.command()
@click.argument("agent", shell_complete=lambda _c, _p, start: [name for name in DRAWN if name.startswith(start)])
@click.option("--screen", metavar="FILE", help="What its terminal shows, with or without escapes; - for stdin.")
@click.option("--title", default="", metavar="TEXT", help="The title that it has set.")
@json_option
@click.pass_context
def explain(context: click.Context, agent: str, screen: str | None, title: str, as_json: bool) -> None:
    """Say which state an agent's screen or title means, by which rule, and from which rows.

    Exit 1 when the state is unknown: pro0 types nothing into such a pane. AGENT is an agent whose screens pro0 knows
    (claude, codex, gemini, opencode, pi, acp, aider, copilot, qwen), or one whose screens the settings define.

    --json prints {agent, state, source, rule, note, readings: [{source, state, rule, note, place, rows}]}.

    \b
    Examples:
      pro0 member peek w1 | pro0 agent explain claude --screen -
      tmux capture-pane -p -e -t %3 > screen; pro0 agent explain codex --screen screen --json
      pro0 agent explain gemini --title "✋  Action Required (project)"
    """
    if screen is None and not title:
        raise BadInput(
            "there is no screen and no title to explain", hint="give --screen FILE, or --title TEXT, or both"
        )
    picture = Screen(title=title) if screen is None else screen_of(_captured(screen), title)
    evidence = screens.explain(_drawing(agent), picture)
    counted = combine(None, (finding.reading for finding in evidence)) or Reading(state=State.UNKNOWN, source="title")
    if as_json:
        readings = [{**_data(finding.reading), "place": finding.place, "rows": finding.rows} for finding in evidence]
        write_json({"agent": agent, **_data(counted), "readings": readings})
    else:
        _write(counted, evidence)
    context.exit(int(counted.state is State.UNKNOWN))


def _drawing(agent: str) -> Drawing:
    """Return the rules for an agent's screens, from the settings or else from pro0; raises NotFound without any."""
    definition = _settings().agents.get(agent)
    if definition is None:
        return drawing_named(agent)
    if drawing := defined(agent, definition).screens:
        return drawing
    raise NotFound(f"no screens of {agent!r} are known", hint=f"define them: agents.{agent}.screens in the settings")


def _captured(file: str) -> str:
    return data_of(file, LIMIT).decode(errors="replace").replace("\r\n", "\n")


def _write(counted: Reading, evidence: tuple[Evidence, ...]) -> None:
    pairs([("state", counted.state), ("source", counted.source), ("rule", counted.rule), ("note", counted.note)])
    for finding in evidence:
        reading = finding.reading
        write()
        pairs(
            [
                (reading.source, f"{reading.state}, by the rule {reading.rule}" if reading.rule else "fits no rule"),
                ("ends with", finding.place),
                ("rows", "\n".join(visible(row.strip()) for row in finding.rows)),
            ]
        )


def _data(reading: Reading) -> dict[str, object]:
    return {"state": reading.state, "source": reading.source, "rule": reading.rule, "note": reading.note}
