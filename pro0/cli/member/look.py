"""`pro0 member list`, `show` and `peek`."""

import re
import shlex
from typing import TYPE_CHECKING

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, local, mapping, name_option, pairs, say, table, write, write_json
from pro0.errors import Pro0Error, Refused
from pro0.model.runtime import ENDED, SeatState, TurnEnd
from pro0.model.team import placed
from pro0.ops.context import Context
from pro0.ops.team import members
from pro0.ops.team.machines import nothing_to_show
from pro0.ops.team.status import MemberStatus, of_seat, remark, status
from pro0.rules.lead.plan_approval import view
from pro0.rules.text import visible

if TYPE_CHECKING:
    from pro0.diffs import Difference


@click.command("list")
@team_option
@json_option
@name_option
def list_members(team: str | None, as_json: bool, output: str | None) -> None:
    """List the members and what each is doing.

    --json prints the `members` of `team status --json`.

    \b
    Examples:
      pro0 member list
      pro0 member list --json | jq -r '.[] | select(.state == "idle") | .agentId'
    """
    context = here(team)
    if output == "name":
        for seat in members.members(context).wanted.seats:
            write(seat.agent_id)
        return
    listed = status(context).members
    if as_json:
        write_json(listed)
    elif not listed:
        say(f"{context.team.name} has no members yet; start one: pro0 member spawn w1")
    else:
        head = ("MEMBER", "NAME", "AGENT", "STATE", "TASK", "PID", "UNREAD", "SINCE", "NOTE")
        table(head, [_row(member) for member in listed])


def _row(member: MemberStatus) -> tuple[str, ...]:
    pid = str(member.pid) if member.pid and member.state not in ENDED else ""
    agent = placed(member.agent, member.host)
    columns = (member.agent_id, member.name, agent, member.state, member.task or "", pid)
    return (*columns, _count(member.unread), local(member.since), remark(member))


LAST_LINES = 8
"""The most lines shown of a member's last screen, taken from its last LOOKED_AT rows."""
LOOKED_AT = 40


@click.command()
@click.argument("name", shell_complete=completing.members)
@team_option
@json_option
def show(name: str, team: str | None, as_json: bool) -> None:
    """Show all that is known about one member, beginning with its last words and the last lines of its screen.

    NAME is the member's id or name, in upper or lower case.

    --json prints the member as `member list --json` does, with turn, the end of its last turn: null or {at, how, words,
    source, id, claims, running}. It adds lastLines, role, prompt, argv, generation and exit; gate, the plan that needs
    approval: null or {agentId, id, text, stage, at, by, feedback}; and changes, the work in the member's own worktree:
    null or {commits, files, added, removed, uncommitted}.

    \b
    Examples:
      pro0 member show w1
      pro0 member show "Test Runner" --json
    """
    from pro0.cli.diff.sizes import changed, sized
    from pro0.ops.work import diffs

    context = here(team)
    roster = members.members(context)
    seat = roster.find(name)
    state = roster.state(seat.agent_id)
    look = mapping(of_seat(context, seat))
    seat_fields = {"role": seat.role, "prompt": seat.prompt, "argv": seat.argv, "generation": seat.generation}
    work = diffs.measured(context, seat.agent_id)
    last_lines = _last_lines(context, name)
    if as_json:
        gate = view(seat) if seat.gate else None
        exit_status = state.exit if state else None
        write_json(
            {**look, **seat_fields, "lastLines": last_lines, "gate": gate, "exit": exit_status, "changes": sized(work)}
        )
        return
    if turn := state.turn if state else None:
        pairs(_turn(turn))
        write("")
    if last_lines:
        write("\n".join((f"the last lines of {seat.agent_id}:", *(f"  {row}" for row in last_lines), "")))
    pairs([(_words(key), _text(key, value)) for key, value in {**look, **seat_fields}.items() if key != "turn"])
    pairs([("ended", _ended(state)), *changed(work), ("merge", _merge(context, seat.agent_id, work))])
    if seat.gate:
        gate = view(seat)
        pairs([(f"plan {key}", _text(key, gate[key])) for key in ("id", "at", "by", "feedback", "text")])


@click.command()
@click.argument("name", shell_complete=completing.members)
@click.option("-n", "--lines", type=click.IntRange(1, 10000), default=40, show_default=True, help="How many lines.")
@team_option
@json_option
def peek(name: str, lines: int, team: str | None, as_json: bool) -> None:
    """Print the last lines that a member shows, without touching it; for an ended member, those of its last screen.

    --json prints them as a list.

    \b
    Examples:
      pro0 member peek w1
      pro0 member peek w1 -n 200
    """
    from pro0.engine.places import last_shown

    context = here(team)
    agent_id, state = _session(context, name)
    text = last_shown(context.team, state, lines) if state else None
    if text is None:
        raise nothing_to_show(context.team, members.members(context).find(agent_id))
    screen = visible(text).rstrip("\n")
    if as_json:
        write_json(screen.splitlines())
    else:
        write(screen)


def _merge(context: Context, agent_id: str, work: "Difference | None") -> str:
    """Return what a merge of a member's commits would do, "" when there are none."""
    from pro0.ops.work import diffs

    if work is None or not work.commits:
        return ""
    try:
        conflicts = diffs.predict(context, agent_id)
    except Refused as error:
        return error.message
    return f"would conflict in {', '.join(conflicts)}" if conflicts else "without conflicts"


def _last_lines(context: Context, name: str) -> list[str]:
    """Return the last lines of a member's screen, none when nothing of it is left."""
    from pro0.engine.places import last_shown

    _, state = _session(context, name)
    try:
        text = (last_shown(context.team, state, LOOKED_AT) if state else None) or ""
    except Pro0Error:
        return []
    return [row.rstrip() for row in visible(text).splitlines() if row.strip()][-LAST_LINES:]


def _session(context: Context, name: str) -> tuple[str, SeatState | None]:
    """Return the id of a member and its session, or None for a member without a session."""
    roster = members.members(context)
    seat = roster.find(name)
    return seat.agent_id, roster.state(seat.agent_id)


def _count(number: int) -> str:
    return str(number) if number else ""


def _words(key: str) -> str:
    """Return a field's key as words for people."""
    labels = {"agentId": "id", "startedAt": "started"}
    return labels.get(key) or re.sub("(?=[A-Z])", " ", key).lower()


def _text(key: str, value: object) -> str:
    if value is None or value == "" or value == []:
        return ""
    if key in ("since", "startedAt", "at"):
        return local(value)  # type: ignore[arg-type]
    return shlex.join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _turn(turn: TurnEnd) -> list[tuple[str, str]]:
    """Return how a member's last turn ended, its last words first."""
    return [
        ("last words" if turn.source != "screen" else "its screen", turn.words),
        ("turn", f"{turn.how} {local(turn.at)}"),
        ("held", ", ".join(turn.claims)),
        ("still ran", ", ".join(turn.running)),
    ]


def _ended(state: SeatState | None) -> str:
    if state is None or state.exit is None:
        return ""
    end = state.exit
    how = f"signal {end.signal}" if end.signal is not None else f"exit code {end.code}"
    return f"{local(end.at)}, {how if end.code is not None or end.signal is not None else end.reason}"
