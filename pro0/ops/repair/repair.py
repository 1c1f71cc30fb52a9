"""Repair one team: move unreadable documents aside, and rebuild them from their remains and the other files.

Documents written only by the lead are repaired under the lead's lease. While a lead lives, they are only reported.
"""

import re
from itertools import islice

import msgspec

from pro0 import looking, processes
from pro0.errors import ErrorCode, Refused
from pro0.model import ids
from pro0.model.caller import HUMAN_ONLY
from pro0.model.runtime import Report
from pro0.model.task import Entry, TaskList
from pro0.ops.context import Context, operation
from pro0.ops.repair.document import Repairs, RepairWork, as_is, mend, mend_plainly
from pro0.ops.repair.evidence import certain, report_files
from pro0.ops.repair.repair_dead import record_dead, remove_launches
from pro0.ops.repair.repair_mail import repair_mailbox
from pro0.rules.repair import rebuilding, salvage, soundness
from pro0.rules.repair.rebuilding import TeamFacts
from pro0.rules.repair.salvage import Remains
from pro0.rules.tasks import archive
from pro0.store import health
from pro0.store.files import File, make_folder, translate
from pro0.store.mending import MENDABLE, Bad, move_aside, remnant, trouble
from pro0.store.teams import Store

MOST_PAGES = 1000
"""The most history files repaired for one task; a larger count cannot be right."""
_OWN_ID = re.compile(rb'"id"\s*:\s*"(task-[1-9]\d{0,8})"')


@operation("team.repair", HUMAN_ONLY)
def repair(context: Context, project: str) -> Repairs:
    """Repair everything that can be repaired without losing data; `project` is used when no file names the project."""
    if why := context.team.documents.mends:
        raise Refused(why, hint="nothing was changed")
    work = RepairWork(context, project, Repairs([], []))
    try:
        _ground(work)
        _under_the_lease(work)
    except OSError as error:
        translate(error, context.team.paths.team)
    return work.outcome


def _under_the_lease(work: RepairWork) -> None:
    lease = work.context.team.documents.lease()
    if not lease.take("repair"):
        work.holder = lease.holder() or "somebody"
    try:
        for step in STEPS:
            step(work)
        if work.holder is None:
            record_dead(work)
            remove_launches(work)
    finally:
        lease.drop()


def _ground(work: RepairWork) -> None:
    """Make missing folders, free the places of locks, tighten modes; all other repairs need this."""
    paths, now = work.context.team.require().paths, work.context.now()
    folders = (paths.tasks, paths.mailboxes, paths.sessions, paths.logs)
    if missing := [folder for folder in folders if not looking.lexists(folder)]:
        with Store(paths.home).changing(f"repair team {paths.name}"):
            work.context.team.require()  # a removal takes the same lock, so no repair brings a removed team back
            for folder in missing:
                make_folder(folder)
                work.say(f"{folder} was missing: made it")
    tops = (paths.team, paths.tasks, paths.mailboxes)
    for lock in list(health.odd_locks(paths.team, *tops)):
        if moved := move_aside(lock, now):
            work.say(f"{lock} was no regular file: moved it aside as {moved.name}")
    for entry in list(health.loose(*tops)):
        health.tighten(entry)
        work.say(f"{entry.path} had mode {entry.mode:04o}: now {entry.proper:04o}")


def _troubles(work: RepairWork) -> None:
    """Repair troubles.json first, since it records the losses of the other repairs."""
    mend_plainly(work, work.context.team.troubles)


def _leads_documents(work: RepairWork) -> None:
    """Repair runtime.json and config.json, written only by the lead."""
    team = work.context.team
    for path, error in ((team.runtime.path, trouble(team.runtime)), (team.config.path, trouble(team.config))):
        if error and work.holder and error.code != ErrorCode.NEWER_SCHEMA:
            work.outcome.refused.append(f"{path} is not repaired while its lead is alive: {work.holder}")
    if work.holder is None:
        facts = _with_wishes(work)
        mend(work, team.runtime, lambda remains, _: rebuilding.runtime(remains, facts))
        facts = _with_wishes(work)
        mend(work, team.config, lambda remains, _: rebuilding.config(remains, facts))


def _with_wishes(work: RepairWork) -> TeamFacts:
    """Return the evidence; for unreadable wishes, with their salvaged part."""
    facts, file = work.facts(), work.context.team.wanted
    if facts.wanted or not (bad := remnant(file)) or salvage.is_newer(bad.data):
        return facts
    return msgspec.structs.replace(facts, wanted=rebuilding.desired(salvage.recover(bad.data, file.kind), facts))


def _wishes(work: RepairWork) -> None:
    mend(work, work.context.team.wanted, lambda remains, _: rebuilding.desired(remains, work.facts()))


def _environment(work: RepairWork) -> None:
    """Repair the documents that cannot be rebuilt from others."""
    mend_plainly(work, work.context.team.environment)
    mend_plainly(work, work.context.team.permissions)
    mend_plainly(work, work.context.team.announced)
    mend_plainly(work, work.context.team.ports)
    mend_plainly(work, work.context.team.usage)


def _tasks(work: RepairWork) -> None:
    file = work.context.team.tasks
    mentioned: set[str] = set()
    lost: list[str] = []

    def build(remains: Remains[TaskList], bad: Bad) -> TaskList:
        mentioned.update(match.decode() for match in _OWN_ID.findall(bad.data))
        facts = work.facts()
        highest = max([facts.highest_task, *map(ids.task_number, mentioned)])
        value = rebuilding.tasks(remains, msgspec.structs.replace(facts, highest_task=highest))
        older = {task.id for segment in facts.archive for task in segment}
        lost[:] = rebuilding.lost_tasks(mentioned | facts.known_tasks, value, older)
        remains.lost[:0] = rebuilding.runs(lost)
        return value

    mend(work, file, build, lambda value: f"{len(value.tasks)} task{'s' * (len(value.tasks) != 1)}")
    for id in lost:
        work.context.team.log_event(work.context.now(), work.context.caller.agent_id, "task.lost", task=id)


def _archive(work: RepairWork) -> None:
    """Repair the files beside tasks.json; recount the archive when some of it was lost."""
    file = work.context.team.tasks
    listed = certain(file)
    segments = file.segments(listed.sealed if listed else 0)
    broken = [segment for segment in segments if (error := trouble(segment)) and error.code in MENDABLE]
    for segment in broken:
        make_folder(segment.folder)
        mend(work, segment, lambda remains, _: rebuilding.segment(remains))
    if broken and listed and not trouble(file):
        with file.change("repair: count the archive") as change:
            sealed = change.value.sealed  # more may be sealed by now than the list above knows
            readable = map(certain, file.segments(sealed)[:sealed])
            change.value = archive.counted(change.value, [segment.tasks if segment else () for segment in readable])


def _histories(work: RepairWork) -> None:
    file = work.context.team.tasks
    listed = certain(file)
    parts = [listed, *map(certain, file.segments(listed.sealed))] if listed else []
    for task in (task for part in parts if part for task in part.tasks):
        for page in islice(file.pages(task), MOST_PAGES):
            if trouble(page):
                make_folder(page.folder)
                mend_plainly(work, page)


def _remarks(work: RepairWork) -> None:
    _histories(work)
    team = work.context.team
    for name in team.documents.tasks.folders():
        if ids.is_task_id(name):
            mend_plainly(work, team.comments(name))


def _reports(work: RepairWork) -> None:
    """Repair the sessions' reports; a living guard's report is only moved aside, since the guard writes it again."""
    team = work.context.team
    runtime = certain(team.runtime)
    states = {state.incarnation: state for state in runtime.seats} if runtime else {}
    for incarnation, file in report_files(team):
        state = states.get(incarnation)
        value = rebuilding.report(state) if state else None
        if value and not processes.alive(value.guard):
            mend(work, file, as_is(value))
        elif error := trouble(file):
            _drop_report(work, file, error.code)


def _drop_report(work: RepairWork, file: File[Report], code: str) -> None:
    if code in MENDABLE and (moved := move_aside(file.path, work.context.now())):
        work.say(f"{file.path} cannot be read: moved it aside as {moved.name}")


def _mailboxes(work: RepairWork) -> None:
    team = work.context.team
    desired = certain(team.wanted)
    names = {*team.documents.mailboxes.folders()}
    names |= {ids.LEAD, ids.HUMAN, *(seat.agent_id for seat in desired.seats)} if desired else {ids.LEAD, ids.HUMAN}
    for name in sorted(names):
        if ids.NAME.fullmatch(name) and name != ids.ALL:
            repair_mailbox(work.context, name, work.say)


def _references(work: RepairWork) -> None:
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
        work.say(f"{team.name}: {finding.what}: repaired")


STEPS = (
    _troubles,
    _leads_documents,
    _wishes,
    _environment,
    _reports,
    _archive,
    _tasks,
    _remarks,
    _mailboxes,
    _references,
)
