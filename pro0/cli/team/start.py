"""`pro0 team start`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from pro0.agents.installed import USUAL, first_installed
from pro0.cli import completing
from pro0.cli.config.settings import say_withheld
from pro0.cli.context import by_terminal, caller, given, need_lead, project_here, store
from pro0.cli.help.sections import SectionedCommand
from pro0.cli.member.seating import seated
from pro0.cli.output import going_on, json_option, live, say, talk, terminal, write, write_json
from pro0.cli.team.layout_file import drafts_of, layout_named
from pro0.config import APPROVERS, MAY, MODES, PERMISSIONS, Settings, require_enabled
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Pro0Error, Refused
from pro0.model import ids
from pro0.model.layout import Layout
from pro0.model.runtime import Phase
from pro0.model.task import Draft
from pro0.model.team import PermissionMode, Seat, placed
from pro0.ops import trust
from pro0.ops.context import Context, in_process
from pro0.ops.tasks import tasks
from pro0.ops.tasks.drafts import SeatDraft, startable, with_definitions
from pro0.ops.team import costs, members
from pro0.ops.team.needs import beyond_all
from pro0.rules import text

if TYPE_CHECKING:
    from pro0.engine.opening.early import EarlyLead


@click.command(
    cls=SectionedCommand,
    sections={
        "Who is in it": "--layout --member --lead --delegate-only",
        "What they do": "--task --worktrees",
        "What they may do": "--permission-mode --plan-approval --max-cost",
        "Where it is kept": "--store",
        "How it is shown": "--mode --detach --web",
    },
)
@click.argument("name")
@click.argument("prompt", required=False)
@click.option(
    "-l",
    "--layout",
    "layout_name",
    shell_complete=completing.layouts,
    metavar="NAME|FILE",
    help="Members, windows and tasks from a layout.",
)
@click.option(
    "-m", "--member", "specs", multiple=True, metavar="NAME=AGENT[@HOST][:ROLE]", help="A member; repeatable."
)
@click.option(
    "--lead", type=given, metavar="AGENT|none", help="The lead agent; with a PROMPT by default the first one installed."
)
@click.option("--delegate-only", "delegates", is_flag=True, help="The lead agent leaves all work to the other members.")
@click.option(
    "--permission-mode",
    "permission",
    type=click.Choice(PERMISSIONS),
    help=f"What members may do without asking: {MAY}.",
)
@click.option("--plan-approval", "approver", type=click.Choice(APPROVERS), help="Who decides on the plans of members.")
@click.option("--max-cost", type=float, metavar="USD", help="At this cost no new session starts.")
@click.option("--task", "titles", multiple=True, metavar="TEXT", help="A first task; repeatable.")
@click.option("--mode", type=click.Choice(MODES), help="Where the members are shown; by default from the settings.")
@click.option("--worktrees", is_flag=True, help="Give every teammate a git worktree and a branch of its own.")
@click.option(
    "--store", "url", metavar="URL", help="The database that keeps its documents; by default from the settings."
)
@click.option("--detach", is_flag=True, help="Do not show the team in this terminal.")
@click.option(
    "--web", "in_browser", is_flag=True, help="Show it in a browser: serve the page here, as `pro0 web` does."
)
@json_option
def start(
    name: str,
    prompt: str | None,
    layout_name: str | None,
    specs: tuple[str, ...],
    lead: str | None,
    delegates: bool,
    permission: str | None,
    approver: str | None,
    max_cost: float | None,
    titles: tuple[str, ...],
    mode: str | None,
    worktrees: bool,
    url: str | None,
    detach: bool,
    in_browser: bool,
    as_json: bool,
) -> None:
    """Make a team, start its lead and its members.

    The team is bound to the git work tree around this directory, or else to this directory. On a terminal its panes are
    shown afterwards, unless the terminal is inside your own tmux or --detach is given. With a PROMPT a lead agent
    starts first; it plans, spawns teammates and combines their work. A layout is a file of the project (.pro0/layouts),
    one of yours (layouts in PRO0_HOME), or one that comes with pro0: pair, trio, review, feature, demo. --json prints
    what `team status --json` prints.

    \b
    Examples:
      pro0 team start alpha -m w1=shell -m w2=shell
      pro0 team start auth "Build the auth feature with two engineers and a reviewer"
      pro0 team start look -l demo --web
      pro0 team start beta --detach --mode headless -m "Test Runner=shell" --task "look around"
    """
    ids.team_name(name)
    store().check()
    if in_browser:
        from pro0.web.extra import require_libraries

        require_libraries()
    folder = project_here()
    layout = layout_named(layout_name, folder, store().home) if layout_name else Layout()
    settings = _settings(folder, mode or layout.mode or None, approver, url)
    mode_of_all = PermissionMode(permission or layout.permission_mode or settings.permission_mode)
    leader = _leader(lead or layout.lead or None, prompt or layout.prompt or None, delegates=delegates)
    member_drafts = [*drafts_of(layout), *(_draft(spec) for spec in specs)]
    drafts = with_definitions([*leader, *_members(member_drafts, settings.max_teammates)], settings.agents)
    for draft in drafts:
        startable(draft, mode_of_all, os.environ.get("PATH", os.defpath))
    first_tasks = [*layout.tasks, *(Draft(title=text.title(title)) for title in titles)]
    with _early_lead(name, settings) as early:
        context = _make(name, folder, settings, drafts, mode_of_all, layout, worktrees=worktrees)
        if max_cost is not None:
            costs.limit(replace(context, vouch=in_process), max_cost)  # a first limit changes none, so it is no verdict
        new_tasks = tasks.create(context, first_tasks) if first_tasks else []
        _bring_up(context, drafts, settings, early, len(new_tasks))
    if warning := beyond_all(context, new_tasks):
        say(f"Warning: {warning}")
    _tell(context, as_json=as_json)
    if in_browser:
        from pro0.cli.web.serving import serve_or_show

        serve_or_show()
    elif not detach and not as_json and terminal() and not context.team.config.read().inside_tmux:
        from pro0.cli.team.attaching import attach

        attach(context)


def _settings(folder: Path, mode: str | None, approver: str | None, url: str | None) -> Settings:
    flags = {"teammateMode": mode, "planApproval": approver, "store": url}
    say_withheld(store().home, folder)
    settings = trust.settings(store().home, folder, os.environ, flags)
    require_enabled(settings)
    return settings


def _members(drafts: list[SeatDraft], limit: int) -> list[SeatDraft]:
    """Return the requested members; their errors are found before anything is made."""
    if len(drafts) > limit:
        raise BadInput(f"{len(drafts)} members are more than {limit}", hint="raise maxTeammates in the settings")
    agents = [ids.agent_id_from(draft.name) for draft in drafts]
    for agent in agents:
        if agents.count(agent) > 1:
            raise BadInput(
                f"two members would be called {agent}", hint="choose names that differ by more than case and spaces"
            )
    return drafts


def _draft(spec: str) -> SeatDraft:
    name, equals, kind = spec.rpartition("=")
    if not equals:
        raise BadInput(f"{spec!r} names no agent", hint=f"-m {spec or 'w1'}=shell")
    where, _, role = kind.partition(":")
    agent, at, host = where.partition("@")
    if at and not host:
        raise BadInput(f"{spec!r} names no host", hint=f"-m {name}={agent}@build1")
    return seated(SeatDraft(name=name, agent=agent, host=host, role=role))


def _leader(lead: str | None, prompt: str | None, *, delegates: bool) -> list[SeatDraft]:
    """Return the requested lead agent, or nobody."""
    if lead == "none" or (lead is None and prompt is None):
        if prompt is not None or delegates:
            raise BadInput("without a lead agent nobody takes a prompt", hint="leave out --lead none")
        return []
    agent = lead or first_installed()
    if agent is None:
        hint = f"install one of {', '.join(USUAL)}, or start without a prompt"
        raise EnvironmentMissing("no agent that could lead is installed", code=ErrorCode.AGENT_MISSING, hint=hint)
    return [SeatDraft(name=ids.LEAD, agent=agent, prompt=prompt or "", leads=True, delegates=delegates)]


def _make(
    name: str,
    folder: Path,
    settings: Settings,
    drafts: list[SeatDraft],
    permission: PermissionMode,
    layout: Layout,
    *,
    worktrees: bool,
) -> Context:
    from pro0.engine.opening.founding import found

    member_list = ", ".join(f"{draft.name} ({placed(draft.agent, draft.host)})" for draft in drafts) or "nobody yet"
    asking, _ = caller()
    _not_stopped(name)
    context = found(
        store(),
        asking,
        name,
        folder,
        settings,
        vouch=by_terminal,
        terminal=terminal(),
        permission=permission,
        layout=layout,
        worktrees=worktrees,
    )
    config = context.team.config.read()
    say(f"team {name} in {folder}: {member_list}")
    say(f"mode {config.mode}: {config.mode_reason}")
    if len(drafts) > 1 and not worktrees:
        say("the members share one checkout: give them tasks that touch different files")
    return context


def _not_stopped(name: str) -> None:
    """Raise Refused for a stopped team of that name: its members and tasks can go on."""
    team = store().team(name)
    if team.exists() and team.runtime.read().phase is Phase.STOPPED:
        hint = f"go on with it: pro0 team resume -t {name}, or remove it: pro0 team cleanup {name}"
        raise Refused(f"there is a team {name} already, which is stopped", code=ErrorCode.CONFLICT, hint=hint)


def _early_lead(name: str, settings: Settings) -> "EarlyLead":
    """Return a lead that loads its modules while its team is being made."""
    from pro0.engine.opening.early import EarlyLead
    from pro0.engine.opening.environment import kept_environment

    kept = kept_environment(os.environ, settings.pass_environment, settings.agents.values())
    return EarlyLead(store().team(name), kept.variables, settings.teammate_mode)


def _bring_up(
    context: Context, drafts: list[SeatDraft], settings: Settings, early: "EarlyLead", first_tasks: int
) -> None:
    """Start lead and members; a team in which nothing started is removed again, unless somebody stopped it."""
    from pro0.engine.opening.undoing import undo
    from pro0.engine.outcomes import started

    try:
        seats: list[Seat] = members.spawn(context, drafts, settings.max_teammates)
        name = context.team.name
        with going_on(f"{name} is still starting: pro0 team status -t {name}"), live() as show:
            show("starting the lead")
            need_lead(context.team, show, early)
            started(context.team, seats, show)
    except Pro0Error as error:
        if error.code is not ErrorCode.STOPPING:
            undo(store(), context.team, first_tasks, error, talk())
        raise


def _tell(context: Context, *, as_json: bool) -> None:
    from pro0.ops.team.status import status

    look, name = status(context), context.team.name
    if as_json:
        write_json(look)
        return
    addressee = look.members[0].agent_id if look.members else "MEMBER"
    write(f"{name} runs: {', '.join(f'{m.agent_id} {m.state}' for m in look.members) or 'no members yet'}")
    run = " --run 'make'" if any(member.agent == "shell" for member in look.members) else ""
    write(f'  give work  pro0 task create "what to do"{run} -t {name}')
    write(f"  watch      pro0 team attach -t {name}   or: pro0 team status --watch -t {name}")
    write(f'  message    pro0 send {addressee} "hello" -t {name}')
    write(f"  stop       pro0 team stop -t {name}, then: pro0 team cleanup {name}")
