"""The methods of members' screens and of their work in git."""

from typing import Annotated

from msgspec import Meta

from pro0 import diffs
from pro0.diffs import FileChange, UnmergedCommit
from pro0.engine.outcomes import started
from pro0.engine.places import last_shown
from pro0.ops.tasks.acting import settings_to_hire
from pro0.ops.team import members
from pro0.ops.team.machines import nothing_to_show
from pro0.ops.team.status import MemberStatus, status
from pro0.ops.work import diffs as work_of
from pro0.rpc.client import RpcClient
from pro0.rpc.method import method
from pro0.rpc.views import RpcView

PATCH_LIMIT = 1 << 20
"""The most bytes of a patch that are shown."""
Lines = Annotated[int, Meta(ge=1, le=10_000, description="How many of the last lines, at most.")]
Worker = Annotated[str, Meta(description="A member, a worker, or a task whose session did the work.")]


class LastScreen(RpcView, frozen=True, kw_only=True):
    """The last lines that a member shows, as plain text."""

    agent_id: str
    lines: list[str]


class Diff(RpcView, frozen=True, kw_only=True):
    """The changes of a member or worker since its work forked; `shared` for the project's checkout, used by all."""

    name: str
    shared: bool = False
    worktree: str = ""
    branch: str = ""
    base: str
    tip: str
    commits: tuple[UnmergedCommit, ...]
    files: tuple[FileChange, ...]
    added: int
    removed: int
    uncommitted: int
    """The number of files whose present state is not committed."""
    unreadable: str = ""


class Patch(RpcView, frozen=True, kw_only=True):
    """A patch as git prints it; bytes that are no text are replaced."""

    name: str
    patch: str
    cut: bool = False
    """True when this is only the beginning."""


class Merged(RpcView, frozen=True, kw_only=True):
    """The commit that merged a member's work."""

    name: str
    commit: str


@method("member.list", "member.peek")
def peek(client: RpcClient, name: str, lines: Lines = 40) -> LastScreen:
    """Return the last lines that a member shows, without touching it."""
    context = client.context
    roster = members.members(context)
    seat = roster.find(name)
    state = roster.state(seat.agent_id)
    text = last_shown(context.team, state, lines) if state else None
    if text is None:
        raise nothing_to_show(context.team, seat)
    return LastScreen(agent_id=seat.agent_id, lines=[row.rstrip() for row in text.rstrip().splitlines()][-lines:])


@method("member.restart", "member.restart", waits=True)
def restart(client: RpcClient, name: str, fresh: bool = False) -> MemberStatus:
    """Start a new session of a member that has ended, and return when it is up; `fresh` forgets its conversation."""
    context = client.context
    seat = members.restart(context, name, fresh=fresh, definitions=settings_to_hire(context).agents)
    started(context.team, [seat], client.show)
    return next(member for member in status(context).members if member.agent_id == seat.agent_id)


@method("member.merge", "member.merge", waits=True)
def merge(client: RpcClient, name: str) -> Merged:
    """Merge a member's commits into the project's checkout. A merge that would conflict changes nothing."""
    work, commit = work_of.merge(client.context, name)
    return Merged(name=work.name, commit=commit)


@method("diff.show", "diff.show", waits=True)
def diff(client: RpcClient, name: Worker) -> Diff:
    """List the changes of a member, worker or task: commits, and files with their line counts, committed or not."""
    work, difference = work_of.show(client.context, name)
    return Diff(
        name=work.name,
        shared=work.shared,
        worktree=str(work.fork.folder) if work.fork.files else "",
        branch=difference.branch,
        base=difference.base,
        tip=difference.tip,
        commits=difference.commits,
        files=difference.files,
        added=difference.added,
        removed=difference.removed,
        uncommitted=difference.uncommitted,
        unreadable=difference.unreadable,
    )


@method("diff.show", "diff.patch", waits=True)
def patch(client: RpcClient, name: Worker) -> Patch:
    """Return the changes of a member, worker or task as a patch, at most its first 1 MiB."""
    work, _ = work_of.show(client.context, name)
    data = bytearray()
    for row in diffs.patch(work.fork):
        data += row
        if len(data) > PATCH_LIMIT:
            break
    cut = len(data) > PATCH_LIMIT
    text = data[:PATCH_LIMIT].decode(errors="replace")
    return Patch(name=work.name, patch=text[: text.rfind("\n") + 1] if cut else text, cut=cut)
