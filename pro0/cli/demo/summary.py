"""The end of the demo, for people and for programs."""

import sys
from shutil import which

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pro0.cli.demo.checks import Expectation, between_members, from_you, judge
from pro0.cli.demo.follow import Look, seconds
from pro0.cli.demo.stage import Facts, Killing, Performance
from pro0.cli.demo.view import console_for
from pro0.model.task import Status


class MemberWork(msgspec.Struct, frozen=True):
    """One member's work: its tasks and its time."""

    name: str
    tasks: list[str]
    seconds: float


class Recovered(msgspec.Struct, frozen=True, rename="camel"):
    """The killed member and its recovery; times in seconds."""

    member: str
    task: str
    killed_at: float
    noticed_after: float | None
    retaken_by: str
    back_after: float | None


class Mail(msgspec.Struct, frozen=True, rename="camel"):
    """How many messages went where."""

    between_members: int
    to_you: int
    from_you: int


class Summary(msgspec.Struct, frozen=True, rename="camel"):
    """How a demo went."""

    held: bool
    seconds: float
    mode: str
    mode_reason: str
    members: list[MemberWork]
    recovered: Recovered | None
    mail: Mail | None
    commits: int
    checks: list[Expectation]
    kept: str | None = None


def summarize(stage: Performance, kept_folder: str | None) -> Summary:
    """Return the summary of a demo, even if it broke off."""
    facts, checks = stage.facts, judge(stage.facts)
    return Summary(
        held=all(check.held for check in checks),
        seconds=round(stage.view.passed, 1),
        mode=stage.mode,
        mode_reason=stage.mode_reason,
        members=_workers(facts.look) if facts.look else [],
        recovered=_recovered(facts.killing) if facts.killing else None,
        mail=_mail(facts.look, facts) if facts.look else None,
        commits=len(facts.commits),
        checks=checks,
        kept=kept_folder,
    )


def show(summary: Summary) -> None:
    """Print the summary on stdout."""
    console = console_for("stdout")
    for part in (_members(summary.members), _facts(summary), _checks(summary.checks)):
        _print(console, part)
    console.print()
    held = sum(check.held for check in summary.checks)
    verdict = Text(f"{held} of {len(summary.checks)} passed", "bold green" if summary.held else "bold red")
    console.print(verdict + Text(f" in {summary.seconds:.0f} s", ""))
    if summary.held:
        program = "pro0" if which("pro0") else sys.argv[0]  # the name of this call, if pro0 is not on the PATH yet
        console.print(Text(f"your turn: {program} team start alpha -m w1=shell -m w2=shell", "dim"))


def _print(console: Console, part: Table) -> None:
    """Print a table after an empty line, without trailing spaces."""
    if not part.row_count:
        return
    with console.capture() as captured:
        console.print(part)
    console.file.write("\n" + "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _workers(look: Look) -> list[MemberWork]:
    workers = []
    for member in look.members:
        mine = [t for t in look.tasks if t.assignee == member.agent_id and t.status is Status.COMPLETED]
        mine.sort(key=lambda task: task.completed_at.timestamp() if task.completed_at else 0)
        workers.append(MemberWork(member.agent_id, [t.title for t in mine], round(sum(map(seconds, mine)), 1)))
    return workers


def _recovered(killing: Killing) -> Recovered:
    return Recovered(
        member=killing.member,
        task=killing.title,
        killed_at=killing.at,
        noticed_after=killing.noticed_after,
        retaken_by=killing.retaken_by,
        back_after=killing.back_after,
    )


def _mail(look: Look, facts: Facts) -> Mail:
    sent = from_you(look)
    return Mail(between_members=len(between_members(look)), to_you=facts.inbox, from_you=len(sent))


def _members(workers: list[MemberWork]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head in ("member", "tasks", "at work", "did"):
        table.add_column(head, justify="right" if head in ("tasks", "at work") else "left")
    for worker in workers:
        table.add_row(worker.name, str(len(worker.tasks)), f"{worker.seconds:.1f} s", ", ".join(worker.tasks))
    return table


def _facts(summary: Summary) -> Table:
    grid = Table.grid(padding=(0, 2))
    if recovered := summary.recovered:
        grid.add_row("recovered", _story(recovered))
    if mail := summary.mail:
        letters = f"{mail.from_you} from you, {mail.between_members} between members, {mail.to_you} to you"
        grid.add_row("messages", letters)
    if summary.commits:
        grid.add_row("commits", str(summary.commits))
    grid.add_row("mode", f"{summary.mode} ({summary.mode_reason})")
    return grid


def _story(recovered: Recovered) -> str:
    story = f"{recovered.member} was killed at {recovered.killed_at} s, at work on “{recovered.task}”"
    if recovered.noticed_after is not None:
        story += f"; noticed after {recovered.noticed_after} s"
    if recovered.retaken_by:
        story += f"; {recovered.retaken_by} finished the task"
    if recovered.back_after is not None:
        story += f"; {recovered.member} was back after {recovered.back_after} s"
    return story


def _checks(checks: list[Expectation]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for check in checks:
        mark = Text("✓", "green") if check.held else Text("✗", "bold red")
        grid.add_row(mark, check.name, Text(check.detail, "dim" if check.held else "red"))
    return grid
