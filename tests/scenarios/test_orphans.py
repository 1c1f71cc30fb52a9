"""However a member ends, nothing of its tree survives (must show 7, anchors 49)."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0 import processes
from pro0.model.runtime import ENDED
from pro0.ops.members import SeatDraft
from tests.engine.crew import PATIENCE, Crew, gone, kill
from tests.processes import families
from tests.waiting import wait_until

KINDS = ("plain", "nohup", "setsid", "double_fork", "deaf", "stopped", "untagged", "forking")


def tmux(alpha: Crew, *words: str) -> None:
    handle = alpha.state("prog").handle
    assert handle
    subprocess.run(["tmux", "-S", handle.socket, *words], check=True, timeout=PATIENCE)


def end_tmux_server(alpha: Crew) -> None:
    handle = alpha.state("prog").handle
    assert handle
    server = processes.identify(handle.server_pid)
    assert server
    kill(server)


def end_agent(alpha: Crew) -> None:
    agent = alpha.report("prog").agent
    assert agent
    kill(agent)


ENDINGS: dict[str, Callable[[Crew], object]] = {
    "member shutdown --force": lambda alpha: alpha.shut_down("prog", timeout=0, force=True),
    "team stop --force": lambda alpha: alpha.stop(timeout=0, force=True),
    "agent exits": lambda alpha: (alpha.project / "go").touch(),
    "agent KILL": end_agent,
    "guard KILL": lambda alpha: kill(alpha.report("prog").guard),
    "tmux kill-session": lambda alpha: tmux(alpha, "kill-session", "-t", "=alpha"),
    "tmux kill-pane": lambda alpha: tmux(alpha, "kill-pane", "-t", alpha.state("prog").handle.pane),  # type: ignore[union-attr]
    "tmux server KILL": end_tmux_server,
}
CASES = [
    pytest.param(mode, how, id=f"{mode}-{how}")
    for mode in ("headless", "tmux")
    for how in ENDINGS
    if mode == "tmux" or "tmux" not in how
]


@pytest.mark.parametrize(("alpha", "how"), CASES, indirect=["alpha"])
def test_nothing_survives(alpha: Crew, how: str, tmp_path: Path) -> None:
    folder = tmp_path / "family"
    folder.mkdir()
    # Without guard and tag there is nothing left that tells whose a process is: the one known gap.
    kinds = [kind for kind in KINDS if not (how == "guard KILL" and kind == "untagged")]
    program = families.argv(folder, "stay", *kinds)
    if how == "agent exits":
        ended = " ".join(families.argv(folder, "0", *kinds))
        program = ["sh", "-c", f"{ended}; while ! test -e go; do sleep 0.05; done"]
    alpha.spawn(SeatDraft(name="prog", agent="command", argv=tuple(program)))
    family = families.settled(folder, *kinds)
    assert len(family) == len(kinds)
    report = alpha.report("prog")
    assert report.agent
    ENDINGS[how](alpha)
    wait_until(gone(report.guard, report.agent, *family.values()), PATIENCE, f"all of {family} have ended")
    wait_until(lambda: alpha.state("prog").state in ENDED, PATIENCE, "the end is recorded")
    wait_until(lambda: not alpha.left(), PATIENCE, "no process carries the team's tag")
    assert os.path.isdir(alpha.project)
