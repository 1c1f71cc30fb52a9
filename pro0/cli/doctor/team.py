"""The checks of `pro0 doctor` on one team; an unreadable file is named, and the rest is checked all the same."""

from collections.abc import Iterator
from itertools import islice

from pro0 import looking, processes
from pro0.cli.doctor.checks import Check, Health
from pro0.cli.doctor.home import REPAIR
from pro0.engine.opening.launch import other_version
from pro0.errors import ErrorCode, Pro0Error, StoreError
from pro0.model import ids
from pro0.model.runtime import ENDED, Phase, Runtime
from pro0.model.team import Wanted, Wish
from pro0.ops.repair.evidence import readable, report_files
from pro0.ops.repair.repair_dead import living
from pro0.ops.repair.repair_home import stopped
from pro0.ops.repair.repair_mail import examine
from pro0.rules.repair import soundness
from pro0.rules.repair.soundness import Finding
from pro0.rules.text import visible
from pro0.store import health
from pro0.store.mending import MENDABLE, trouble
from pro0.store.paths import LEASE
from pro0.store.places.folder import Folder
from pro0.store.teams import Store, TeamStore


def by_name(store: Store, name: str) -> Iterator[Check]:
    """Check a team by its name; if the place of its documents is unknown, yield only that error."""
    try:
        store_team = store.team(name)
    except Pro0Error as error:
        mend = "put a good copy in its place" if error.code in MENDABLE else error.hint or ""
        yield Check(f"team {name}", Health.FAIL, error.message, mend, name)
        return
    yield from team(store_team)


def team(team: TeamStore) -> Iterator[Check]:
    """Check one team: each of its files, whether they agree with each other, and its sessions."""
    name = f"team {team.name}"
    bad = False
    for verdict, finding in (
        *((Health.FAIL, finding) for finding in _known(_unreadable(team))),
        *((Health.WARN, finding) for finding in _known(_unsound(team))),
    ):
        bad = True
        yield Check(name, verdict, finding.what, finding.mend, team.name)
    runtime = readable(team.runtime)
    if not bad and runtime:
        live = sum(seat.state not in ENDED for seat in runtime.seats)
        yield Check(name, Health.OK, f"{runtime.phase}, {live} live session{'' if live == 1 else 's'}", team=team.name)


def _known(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings; an error of the store becomes the last one."""
    try:
        yield from findings
    except StoreError as error:
        yield _finding(error)


def _unreadable(team: TeamStore) -> Iterator[Finding]:
    """Yield the error of each unusable file; when the database is out of reach, yield only that."""
    paths, documents = team.paths, team.documents
    try:
        for place in (documents.tasks, documents.mailboxes, Folder(paths.sessions), Folder(paths.logs)):
            if not place.is_there():
                yield Finding(f"{place.path} is missing", REPAIR)
    except StoreError as unreached:
        yield _finding(unreached)
        return
    singles = (
        team.config,
        team.wanted,
        team.runtime,
        team.environment,
        team.troubles,
        team.permissions,
        team.announced,
        team.ports,
        team.usage,
    )
    yield from map(_finding, filter(None, (trouble(document) for document in (*singles, team.tasks))))
    listed = readable(team.tasks)
    beside = [*team.tasks.segments(listed.sealed if listed else 0)]
    yield from map(_finding, filter(None, map(trouble, beside)))
    for task in listed.tasks if listed else ():
        broken = filter(None, map(trouble, team.tasks.pages(task)))
        yield from map(_finding, islice(broken, 1))
    for name in _remarked(team):
        if error := trouble(team.comments(name)):
            yield _finding(error)
    for _, file in report_files(team):
        if error := trouble(file):
            yield _finding(error)
    for name in _addresses(team):
        yield from map(_finding, examine(team.mailbox(name)).troubles)


def _finding(error: Pro0Error) -> Finding:
    if error.code == ErrorCode.NEWER_SCHEMA:
        return Finding(error.message, error.hint or "")
    if error.code in (*MENDABLE, ErrorCode.NOT_FOUND):
        return Finding(error.message, f"put a good copy in its place, or: {REPAIR}")
    return Finding(error.message, error.hint or REPAIR)


def _unsound(team: TeamStore) -> Iterator[Finding]:
    """Yield the contradictions between readable files."""
    desired, runtime, listed = readable(team.wanted), readable(team.runtime), readable(team.tasks)
    if (config := readable(team.config)) and looking.is_gone(config.project):
        way = f"move it back, or end the team: pro0 team stop {team.name}, then: pro0 team cleanup {team.name}"
        yield Finding(f"the project folder {config.project} does not exist", way)
    for name in _addresses(team):
        yield from examine(team.mailbox(name)).findings
    if crash := health.crash(team.paths.lead_errors):
        yield Finding(f"a lead of it crashed: {visible(crash[:200])}", f"report it with {team.paths.lead_errors}")
    if desired is None or runtime is None:
        return
    yield from soundness.seats(desired)
    led = health.held(team.paths.team / LEASE) is not None
    if not led:
        yield from _without_lead(team, desired, runtime)
    elif differs := other_version(team):
        yield Finding(*differs)
    if listed:
        members = {ids.HUMAN, ids.LEAD, *(seat.agent_id for seat in desired.seats)}
        yield from (_with_team(finding, team.name) for finding in soundness.tasks(listed, members))
    if listed and not led:
        for task in soundness.stale_claims(listed, living(team, runtime, over=stopped(team))):
            yield Finding(f"{task.id} is claimed by a session of {task.assignee} that is over", REPAIR)


def _without_lead(team: TeamStore, desired: Wanted, runtime: Runtime) -> Iterator[Finding]:
    """Yield the faults that a lead would correct, but this team has none at work."""
    if desired.wish is Wish.RUN:
        yield Finding("its lead is gone", f"pro0 team resume -t {team.name}")
    elif runtime.phase is not Phase.STOPPED:
        yield Finding("its lead ended before it had stopped the team", f"pro0 team stop -t {team.name}")
    for seat in runtime.seats:
        if seat.state not in ENDED and seat.guard and not processes.alive(seat.guard):
            sentence = f"the session of {seat.agent_id} is {seat.state}, but its process {seat.guard.pid} is gone"
            resume = f"pro0 team resume -t {team.name}"  # it starts such a member again
            yield Finding(sentence, REPAIR if desired.wish is Wish.STOP else resume)
    for _, path in health.launches(team.paths.sessions):
        yield Finding(f"{path} was never read by a guard; it holds an environment", REPAIR)


def _with_team(finding: Finding, name: str) -> Finding:
    return Finding(finding.what, f"{finding.mend} -t {name}" if finding.mend.startswith("pro0 ") else finding.mend)


def _remarked(team: TeamStore) -> Iterator[str]:
    yield from filter(ids.is_task_id, team.documents.tasks.folders())


def _addresses(team: TeamStore) -> list[str]:
    """Return the names of those that have a mailbox, or should have one."""
    names = {*team.documents.mailboxes.folders()}
    desired = readable(team.wanted)
    names |= {ids.LEAD, ids.HUMAN, *(seat.agent_id for seat in desired.seats)} if desired else set()
    return sorted(name for name in names if ids.NAME.fullmatch(name) and name != ids.ALL)
