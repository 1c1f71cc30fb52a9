"""Repair one team: move unreadable documents aside, and rebuild them from their remains and the other files.

Documents written only by the lead are repaired under the lead's lease. With a living lead they stay, and are named.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from pro0 import processes
from pro0.errors import ErrorCode
from pro0.model import ids
from pro0.model.caller import HUMAN_ONLY, THE_LEAD
from pro0.model.need import NeedKind
from pro0.model.runtime import ENDED, Phase, Report, Runtime, State
from pro0.model.task import Entry, Task, TaskList
from pro0.model.team import Wish
from pro0.ops.context import INCARNATION, Context, operation
from pro0.ops.repair.evidence import certain, entries, gather, report_files
from pro0.ops.repair.repair_mail import repair_mailbox
from pro0.ops.tasks import tasks
from pro0.ops.team import needs
from pro0.rules.repair import rebuilding, salvage, soundness
from pro0.rules.repair.rebuilding import TeamFacts
from pro0.rules.repair.salvage import Remains
from pro0.rules.tasks import archive
from pro0.store import health
from pro0.store.files import File, make_folder, translate
from pro0.store.lease import Lease
from pro0.store.mending import MENDABLE, Bad, T, mending, move_aside, remnant, trouble

MOST_PAGES = 1000
"""The most history files repaired for one task; a larger count cannot be right."""
_OWN_ID = re.compile(rb'"id"\s*:\s*"(task-[1-9]\d{0,8})"')
_TASK = re.compile(r"task-[1-9]\d{0,8}")
Made = Callable[[Remains[T], Bad], T]


class Repairs(msgspec.Struct, frozen=True):
    """The repairs made, and those refused because the lead is alive, each as a sentence."""

    done: list[str]
    refused: list[str]


class Work(msgspec.Struct):
    """One repair of one team."""

    context: Context
    project: str
    outcome: Repairs
    holder: str | None = None

    def say(self, text: str) -> None:
        """Note one repair."""
        self.outcome.done.append(text)

    def facts(self) -> TeamFacts:
        """Return the present content of the team's files."""
        return gather(self.context, self.project)


@operation("team.repair", HUMAN_ONLY)
def repair(context: Context, project: str) -> Repairs:
    """Mend what can be mended without losing anything; `project` is the team's when no file tells any more."""
    work = Work(context, project, Repairs([], []))
    try:
        _ground(work)
        _under_the_lease(work)
    except OSError as error:
        translate(error, context.team.paths.team)
    return work.outcome


def _under_the_lease(work: Work) -> None:
    lease = Lease(work.context.team.paths.team)
    if not lease.take("repair"):
        work.holder = lease.holder() or "somebody"
    try:
        for step in STEPS:
            step(work)
        if work.holder is None:
            _the_dead(work)
            _launches(work)
    finally:
        lease.drop()


def _ground(work: Work) -> None:
    """Make missing folders, free the places of locks, tighten modes; all other repairs need this."""
    paths, now = work.context.team.paths, work.context.now()
    for folder in (paths.team, paths.tasks, paths.mailboxes, paths.sessions, paths.logs):
        if not folder.exists() and not folder.is_symlink():
            make_folder(folder)
            work.say(f"{folder} was missing: made it")
    tops = (paths.team, paths.tasks, paths.mailboxes)
    for lock in list(health.odd_locks(paths.team, *tops)):
        if moved := move_aside(lock, now):
            work.say(f"{lock} was no regular file: moved it aside as {moved.name}")
    for entry in list(health.loose(*tops)):
        health.tighten(entry)
        work.say(f"{entry.path} had mode {entry.mode:04o}: now {entry.proper:04o}")


def _leads_documents(work: Work) -> None:
    """Repair runtime.json and config.json, written only by the lead."""
    team = work.context.team
    for path, error in ((team.runtime.path, trouble(team.runtime)), (team.config.path, trouble(team.config))):
        if error and work.holder and error.code != ErrorCode.NEWER_SCHEMA:
            work.outcome.refused.append(f"{path} is not repaired while its lead is alive: {work.holder}")
    if work.holder is None:
        facts = _with_wishes(work)
        _mend(work, team.runtime, lambda remains, _: rebuilding.runtime(remains, facts))
        facts = _with_wishes(work)
        _mend(work, team.config, lambda remains, _: rebuilding.config(remains, facts))


def _with_wishes(work: Work) -> TeamFacts:
    """Return the evidence; for unreadable wishes, with their salvaged part."""
    facts, file = work.facts(), work.context.team.wanted
    if facts.wanted or not (bad := remnant(file)) or salvage.is_newer(bad.data):
        return facts
    return msgspec.structs.replace(facts, wanted=rebuilding.desired(salvage.recover(bad.data, file.kind), facts))


def _wishes(work: Work) -> None:
    _mend(work, work.context.team.wanted, lambda remains, _: rebuilding.desired(remains, work.facts()))


def _environment(work: Work) -> None:
    _mend_plainly(work, work.context.team.environment)
    _mend_plainly(work, work.context.team.troubles)


def _tasks(work: Work) -> None:
    file = work.context.team.tasks
    mentioned: set[str] = set()

    def build(remains: Remains[TaskList], bad: Bad) -> TaskList:
        mentioned.update(match.decode() for match in _OWN_ID.findall(bad.data))
        facts = work.facts()
        highest = max([facts.highest_task, *map(ids.task_number, mentioned)])
        value = rebuilding.tasks(remains, msgspec.structs.replace(facts, highest_task=highest))
        remains.lost += rebuilding.lost_tasks(mentioned, value)
        return value

    _mend(work, file, build, lambda value: f"{len(value.tasks)} tasks")


def _archive(work: Work) -> None:
    """Repair the files beside tasks.json; recount the archive when some of it was lost."""
    file = work.context.team.tasks
    listed = certain(file)
    segments = file.segments(listed.sealed if listed else 0)
    broken = [segment for segment in segments if (error := trouble(segment)) and error.code in MENDABLE]
    for segment in broken:
        make_folder(segment.folder)
        _mend(work, segment, lambda remains, _: rebuilding.segment(remains))
    if broken and listed and not trouble(file):
        with file.change("repair: count the archive") as change:
            readable = map(certain, segments[: change.value.sealed])
            change.value = archive.counted(change.value, [segment.tasks if segment else () for segment in readable])


def _histories(work: Work) -> None:
    file = work.context.team.tasks
    listed = certain(file)
    parts = [listed, *map(certain, file.segments(listed.sealed))] if listed else []
    for task in (task for part in parts if part for task in part.tasks):
        for page in islice(file.pages(task), MOST_PAGES):
            if trouble(page):
                make_folder(page.folder)
                _mend_plainly(work, page)


def _remarks(work: Work) -> None:
    _histories(work)
    team = work.context.team
    for folder in entries(team.paths.tasks):
        if folder.is_dir() and not folder.is_symlink() and _TASK.fullmatch(folder.name):
            _mend_plainly(work, team.comments(folder.name))


def _reports(work: Work) -> None:
    """Repair the sessions' reports; a living guard's report is only moved aside, since the guard writes it again."""
    team = work.context.team
    runtime = certain(team.runtime)
    states = {state.incarnation: state for state in runtime.seats} if runtime else {}
    for incarnation, file in report_files(team):
        state = states.get(incarnation)
        value = rebuilding.report(state) if state else None
        if value and not processes.alive(value.guard):
            _mend(work, file, _as_is(value))
        elif error := trouble(file):
            _drop_report(work, file, error.code)


def _drop_report(work: Work, file: File[Report], code: str) -> None:
    if code != ErrorCode.NEWER_SCHEMA and (moved := move_aside(file.path, work.context.now())):
        work.say(f"{file.path} cannot be read: moved it aside as {moved.name}")


def _mailboxes(work: Work) -> None:
    team = work.context.team
    desired = certain(team.wanted)
    names = {path.name for path in entries(team.paths.mailboxes) if path.is_dir() and not path.is_symlink()}
    names |= {ids.LEAD, ids.HUMAN, *(seat.agent_id for seat in desired.seats)} if desired else {ids.LEAD, ids.HUMAN}
    for name in sorted(names):
        if ids.NAME.fullmatch(name) and name != ids.ALL:
            repair_mailbox(work.context, name, work.say)


def _references(work: Work) -> None:
    """Remove references to unknown members from the tasks, and make sure no number is given twice."""
    team, desired = work.context.team, certain(work.context.team.wanted)
    listed = certain(team.tasks)
    if desired is None or listed is None or trouble(team.tasks):
        return
    members = {ids.HUMAN, ids.LEAD, *(seat.agent_id for seat in desired.seats)}
    entry = Entry(at=work.context.now(), actor=work.context.caller.agent_id, act="repaired")
    if soundness.mended(listed, members, entry) is listed:
        return
    with team.tasks.change("repair references") as change:
        findings = [finding for finding in soundness.tasks(change.value, members) if finding.repairs]
        change.value = soundness.mended(change.value, members, entry)
    for finding in findings:
        work.say(f"{team.name}: {finding.what}: mended")


def _the_dead(work: Work) -> None:
    """Give back the tasks of dead sessions; record a stopped team's dead sessions as ended, since no lead will."""
    team = work.context.team
    runtime, desired, listed = certain(team.runtime), certain(team.wanted), certain(team.tasks)
    if runtime is None or desired is None or listed is None or trouble(team.tasks) or trouble(team.runtime):
        return
    # A stopped team should have no living session; _is_dead still confirms each one.
    over = runtime.phase is Phase.STOPPED and desired.wish is Wish.STOP
    for task in soundness.stale_claims(listed, () if over else living(runtime)):
        if task.claim and _is_dead(work, task.claim.incarnation):
            _give_back(work, task)
    gone = {
        state.incarnation for state in runtime.seats if state.state not in ENDED and _is_dead(work, state.incarnation)
    }
    if over and gone:
        with team.runtime.change("repair: dead sessions") as change:
            seats = (
                replace(state, state=State.CRASHED, since=work.context.now(), note="found dead by doctor")
                if state.incarnation in gone
                else state
                for state in change.value.seats
            )
            change.value = replace(change.value, seats=tuple(seats))
        work.say(f"{team.name}: {len(gone)} sessions that were recorded as alive are recorded as ended")


def living(runtime: Runtime) -> set[str]:
    """Return the sessions possibly alive: not recorded as ended, and without a guard known to be dead."""
    return {s.incarnation for s in runtime.seats if s.state not in ENDED and (not s.guard or processes.alive(s.guard))}


def _give_back(work: Work, task: Task) -> None:
    claim = task.claim
    if claim:
        freed = tasks.free(replace(work.context, caller=THE_LEAD), claim.agent_id, claim.incarnation, "is dead")
        for task_freed in freed:
            work.say(f"{task_freed.id} was claimed by a session of {claim.agent_id} that is dead: it is pending again")


def _is_dead(work: Work, incarnation: str) -> bool:
    """Return True when nothing of a session lives: no guard, and no process with its tag."""
    team = work.context.team
    report = certain(File(team.paths.sessions, team.paths.report(incarnation), Report)) if incarnation else None
    runtime = certain(team.runtime)
    guards = [report.guard] if report else []
    guards += [s.guard for s in runtime.seats if s.incarnation == incarnation and s.guard] if runtime else []
    return not any(map(processes.alive, guards)) and not processes.proven(INCARNATION, [incarnation])[incarnation]


def _launches(work: Work) -> None:
    for incarnation, path in list(health.launches(work.context.team.paths.sessions)):
        if _is_dead(work, incarnation):
            path.unlink(missing_ok=True)
            work.say(f"{path} was never read by a guard: removed it, since it holds an environment")


STEPS = (_leads_documents, _wishes, _environment, _reports, _archive, _tasks, _remarks, _mailboxes, _references)


def _as_is(value: T) -> Made[T]:
    return lambda _remains, _bad: value


def _mend_plainly(work: Work, file: File[T]) -> None:
    """Repair a document from its own remains alone."""

    def build(remains: Remains[T], _bad: Bad) -> T:
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in remains.fields.items()}
        return file.kind(**fields)

    _mend(work, file, build)


def _mend(work: Work, file: File[T], build: Made[T], about: Callable[[T], str] | None = None) -> None:
    """Replace an unreadable document by one rebuilt from its remains; a newer pro0's document stays."""
    error = trouble(file)
    if error is None or error.code == ErrorCode.NEWER_SCHEMA:
        return
    with mending(file, "repair") as mend:
        if mend is None or salvage.is_newer(mend.bad.data):
            return
        remains = salvage.recover(mend.bad.data, file.kind)
        value = build(remains, mend.bad)
        name = mend.put(value, work.context.now())
    kept_text = f"; kept: {about(value)}" if about else ""
    lost_text = f"; lost: {', '.join(remains.lost)}" if remains.lost else ""
    aside = f"moved it aside as {name}" if name else "it was missing"
    if remains.lost:
        needs.note(work.context.team, NeedKind.LOSSES, file.path.name, ", ".join(remains.lost), work.context.now())
    work.say(f"{file.path} ({mend.bad.was}) could not be used: {aside}, made it anew{kept_text}{lost_text}")
