"""A lead under which files turn hostile: it lives, says so once, and goes on when they are sound again."""

import json
import os

import pytest

from pro0.model.runtime import State
from pro0.model.task import Draft
from tests.engine.conftest import alpha
from tests.engine.crew import Crew
from tests.hostile.furnished import put
from tests.waiting import STUCK, wait_until

__all__ = ["alpha"]

EDITS: list[tuple[str, tuple[str | int, ...], object]] = [
    ("wanted", ("seats", 0, "agentId"), "../../victim"),
    ("config", ("name",), "beta"),
    ("config", ("uid",), "-"),
    ("config", ("project",), "$HOME"),
    ("tasks", ("tasks", 0, "id"), "../../x"),
    ("tasks", ("tasks", 0, "createdAt"), "2026-01-01T00:00:00"),
    ("tasks", ("tasks", 0, "parent"), "task-1"),
    ("tasks", ("nextId",), 10**30),
    ("runtime", ("seats", 0, "incarnation"), "../x"),
    ("runtime", ("seats", 0, "since"), "9999-12-31T23:59:59Z"),
    ("runtime", ("seats", 0, "since"), "2026-01-01T00:00:00"),
    ("runtime", ("seats", 0, "guard", "pid"), -1),
    ("runtime", ("seats", 0, "guard", "pid"), 2**40),
    ("runtime", ("revision",), 2**64),
]


@pytest.mark.parametrize("odd", ["edited", "deep", "pipe", "link", "sparse"])
def test_the_lead_lives_on(odd: str, alpha: Crew) -> None:
    """29, 31, 23"""
    paths = alpha.team.paths
    places = {name: paths.team / f"{name}.json" for name in ("wanted", "config", "runtime")}
    places["tasks"] = paths.tasks / "tasks.json"
    lead = alpha.lead()
    alpha.spawn("w1")
    alpha.give(Draft(title="x"))
    alpha.reaches("w1", State.IDLE)
    edits = EDITS if odd == "edited" else [(name, (), None) for name in places]
    for file, path, value in edits:
        place = places[file]
        sound, size = place.read_bytes(), len(alpha.log())
        new = place.with_name("new-by-hand")
        if odd == "edited":
            document = json.loads(sound)
            put(document, path, value)
            new.write_text(json.dumps(document))
        elif odd == "deep":
            new.write_bytes(b"[" * 100_000)
        elif odd == "pipe":
            os.mkfifo(new)
        elif odd == "link":
            new.symlink_to(paths.lead_errors)
        else:
            with new.open("wb") as hole:
                hole.truncate(1 << 30)
        os.replace(new, place)
        (paths.team / "poke.json").write_text("{}")
        harmless = path in (("tasks", 0, "parent"), ("seats", 0, "since"))
        if not harmless:
            complains(alpha, size, f"{file} {path}")
        assert lead.poll() is None, (file, path, (paths.lead_errors).read_text())
        back = place.with_name("back-by-hand")
        back.write_bytes(sound)
        os.replace(back, place)
        if not harmless:
            wait_until(lambda: alpha.state("w1").agent_id == "w1", 20, "it is as before")
    alpha.stop(timeout=5, force=True)
    assert lead.wait(STUCK) == 0


def complains(alpha: Crew, size: int, what: str) -> None:
    """Wait until the lead has logged a trouble that is not in the first so many characters of its log."""
    wait_until(lambda: "trouble" in alpha.log()[size:] or alpha.leads[-1].poll(), 20, f"it says so: {what}")
