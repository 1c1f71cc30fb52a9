"""However a member or its lead ends, nothing of it is left once the team is (issue 3, must show 8; anchors 49).

One team a cause: a member for every kind of child, so that none is found only because another was.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from pro0 import processes
from pro0.engine.cleanup import cleanup
from pro0.model.runtime import ENDED, Process, Report
from pro0.ops.team.members import SeatDraft
from pro0.sessions.iterm2 import it2
from tests import elsewhere
from tests.contracts.stand_in import terminal_for
from tests.crash.lanes import SOAK, TEST, counted
from tests.engine.crew import PATIENCE, Crew, crew, gone, kill
from tests.processes import families
from tests.scenarios.conftest import MODES, OTHER_MODES, crew_in
from tests.waiting import wait_until

KINDS = ("plain", "nohup", "setsid", "double_fork", "grandchild", "deaf")
"""Each is a member; `deaf` ignores TERM, HUP and INT."""
AND_ALSO = ("stopped", "untagged", "forking")
"""These are of one member more. `untagged` has thrown its environment away, `forking` starts itself anew."""
MEMBERS = {kind.replace("_", "-"): (kind,) for kind in KINDS} | {"also": AND_ALSO}
ROUNDS = {SOAK: 10}


class Street:
    """The members and their children."""

    def __init__(self, alpha: Crew, folder: Path, how: str) -> None:
        self.alpha = alpha
        # Without guard and tag nothing is left that tells whose a process is: the one known gap.
        gap = "untagged" if how in ("each guard KILL", "each guard there KILL") else ""
        kinds = {name: tuple(kind for kind in found if kind != gap) for name, found in MEMBERS.items()}
        drafts = []
        for name, found in kinds.items():
            (folder / name).mkdir(parents=True)
            argv = families.argv(folder / name, "stay", *found)
            if how == "each agent exits":
                ended = " ".join(families.argv(folder / name, "0", *found))
                argv = ["sh", "-c", f"{ended}; while ! test -e go; do sleep 0.05; done"]
            drafts.append(SeatDraft(name=name, agent="command", argv=tuple(argv)))
        alpha.spawn(*drafts)
        self.children = [
            child for name, found in kinds.items() for child in families.settled(folder / name, *found).values()
        ]
        assert len(self.children) == sum(map(len, kinds.values()))
        self.before = alpha.pids()
        self.guards, self.agents = guards_and_agents([alpha.report(name) for name in MEMBERS])
        self.guards_there, self.agents_there = guards_and_agents([alpha.report_there(name) for name in MEMBERS])

    def everyone(self) -> list[Process]:
        return [*self.guards, *self.agents, *self.guards_there, *self.agents_there, *self.children]

    def goes_on(self) -> None:
        """Check that nobody was ended or restarted."""
        assert [one for one in self.everyone() if not processes.alive(one)] == []
        assert self.alpha.pids() == self.before


def guards_and_agents(reports: list[Report]) -> tuple[list[Process], list[Process]]:
    agents = [report.agent for report in reports if report.agent]
    assert len(agents) == len(MEMBERS)
    return [report.guard for report in reports], agents


def tmux(alpha: Crew, *words: str) -> None:
    handle = alpha.state("plain").handle
    assert handle
    subprocess.run(["tmux", "-S", handle.socket, *words], check=True, timeout=PATIENCE)


def kill_panes(street: Street) -> None:
    for name in MEMBERS:
        handle = street.alpha.state(name).handle
        assert handle
        tmux(street.alpha, "kill-pane", "-t", handle.pane)


def close_panes(street: Street) -> None:
    """As a person does, by hand."""
    for name in MEMBERS:
        handle = street.alpha.state(name).handle
        assert handle
        it2.close(handle.pane)


def kill_server(street: Street) -> None:
    handle = street.alpha.state("plain").handle
    server = processes.identify(handle.server_pid) if handle else None
    assert server
    kill(server)


def kill_all(victims: list[Process]) -> None:
    for victim in victims:
        kill(victim)


def shut_down(street: Street) -> None:
    for name in MEMBERS:
        street.alpha.shut_down(name, timeout=0, force=True)


def end_lead(number: int, street: Street) -> None:
    """Signal the lead, see that everyone goes on, and let the next lead stop the team."""
    signal_lead(number, street)
    street.alpha.lead()
    street.goes_on()
    street.alpha.stop(timeout=0, force=True)


def end_lead_and_clean(number: int, street: Street) -> None:
    """Signal the lead, see that everyone goes on, and remove the team at once."""
    signal_lead(number, street)
    assert cleanup(street.alpha.store, "alpha", force=True, show=street.alpha.shown.append) == "alpha is removed"


def signal_lead(number: int, street: Street) -> None:
    lead = street.alpha.leads[-1]
    lead.send_signal(number)
    lead.wait(PATIENCE)
    street.goes_on()


def hang_up_lead(street: Street) -> None:
    """A lead does not mind: it goes on, and stops the team when asked to."""
    lead = street.alpha.leads[-1]
    lead.send_signal(signal.SIGHUP)
    street.goes_on()
    street.alpha.stop(timeout=0, force=True)
    assert lead.wait(PATIENCE) == 0


CAUSES: dict[str, Callable[[Street], object]] = {
    "lead KILL, then stop": partial(end_lead, signal.SIGKILL),
    "lead KILL, then cleanup": partial(end_lead_and_clean, signal.SIGKILL),
    "lead TERM": partial(end_lead, signal.SIGTERM),
    "lead INT": partial(end_lead_and_clean, signal.SIGINT),
    "lead HUP": hang_up_lead,
    "member shutdown --force": shut_down,
    "team stop --force": lambda street: street.alpha.stop(timeout=0, force=True),
    "each agent exits": lambda street: (street.alpha.place / "go").touch(),
    "each agent KILL": lambda street: kill_all(street.agents),
    "each guard KILL": lambda street: kill_all(street.guards),
    "each agent there KILL": lambda street: kill_all(street.agents_there),
    "each guard there KILL": lambda street: kill_all(street.guards_there),
    "iterm2 closes panes": close_panes,
    "tmux kill-session": lambda street: tmux(street.alpha, "kill-session", "-t", "=alpha"),
    "tmux kill-pane": kill_panes,
    "tmux server KILL": kill_server,
}


def modes_of(how: str) -> tuple[str, ...]:
    """Return where this can happen."""
    every = () if " there " in how else (*MODES, *OTHER_MODES)
    return tuple(mode for mode in every if mode in how) or every


def far_mode_of(how: str) -> str:
    """Return the mode in which this happens to members on another machine, "" when it cannot."""
    fitting = [mode for mode in elsewhere.MODES if ("tmux" in mode) == ("tmux" in how)]
    return "" if "iterm2" in how else fitting[0]


SHORT = [(how, tuple(mode for mode in modes_of(how) if mode in MODES)) for how in CAUSES]
SHORT += [("each guard KILL", ("in-process",)), ("iterm2 closes panes", ("iterm2",))]
LIKE_OTHERS = {"lead KILL, then cleanup", "lead HUP", "each agent exits", "team stop --force", "tmux kill-session"}
"""Ends that others of the short lane show too: the soak alone has them."""
CASES = [
    pytest.param(TEST, how, modes, id="-".join((how, *modes)))
    for how, modes in SHORT
    if modes and how not in LIKE_OTHERS
]
CASES += [
    pytest.param(SOAK, how, modes, id=f"{SOAK}-{how}", marks=pytest.mark.soak)
    for how in CAUSES
    if (modes := modes_of(how))
]


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(("lane", "how", "modes"), CASES)
def test_nothing_survives(lane: str, how: str, modes: tuple[str, ...], tmp_path: Path) -> None:
    """In some modes at once."""
    rounds = ROUNDS.get(lane, 1)
    for number in range(rounds):
        folders = {mode: tmp_path / f"{number}-{mode}" for mode in modes}
        with ExitStack() as terminals, ThreadPoolExecutor(len(modes)) as pool:
            for mode, folder in folders.items():
                folder.mkdir()
                terminals.enter_context(terminal_for(mode, folder))
            for end in [pool.submit(_one_team, mode, how, folder) for mode, folder in folders.items()]:
                end.result()
    for mode in modes:
        counted(lane, "orphans", f"{mode} {how}", rounds * len(KINDS))


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(("how", "mode"), [(how, mode) for how in CAUSES if (mode := far_mode_of(how))])
def test_nothing_survives_there(how: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, must show 3: neither at home nor on the machine of the members."""
    with crew_in(mode, tmp_path / "pro0", tmp_path, monkeypatch) as alpha:
        alpha.lead()
        _all_end(alpha, Street(alpha, tmp_path / "families", how), CAUSES[how])


def _one_team(mode: str, how: str, folder: Path) -> None:
    with crew(folder / "pro0", folder, mode) as alpha:
        alpha.lead()
        _all_end(alpha, Street(alpha, folder / "families", how), CAUSES[how])


def _all_end(alpha: Crew, street: Street, cause: Callable[[Street], object]) -> None:
    cause(street)
    wait_until(gone(*street.everyone()), PATIENCE, f"all of {street.everyone()} have ended")
    if alpha.team.exists():
        wait_until(lambda: {alpha.state(name).state for name in MEMBERS} <= ENDED, PATIENCE, "the ends are known")
    wait_until(lambda: not alpha.left(), PATIENCE, "no process carries the team's tag")
    assert os.path.isdir(alpha.project)
