"""The tutorial, typed line by line: each screen that it shows is what a person then sees. The agents are stand-ins."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.scenarios.pages import FENCED, ROOT, stand_ins, typed
from tests.waiting import STUCK, wait_until

PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
AFTER_A_WHILE = ("pro0 needs", "pro0 team status", "pro0 diff", "pro0 team cost")
"""What is looked at again until it shows what the page shows."""
JOBS = {
    "Add search(word) to shop.py": {"file": "shop.py", "text": "def search(word): ...\n"},
    "Test search": {
        "file": "test_shop.py",
        "text": "assert True\n",
        "asks": {"tool_name": "Bash", "tool_input": {"command": "python test_shop.py"}},
    },
    "Write a README that lists what we sell": {
        "file": "README.md",
        "text": "# Shop\n\nWe sell apples, pears and plums.\n",
    },
}
DIFFERS = (
    (r"\d\d:\d\d:\d\d", "TIME"),
    (r"\b[0-9a-f]{7,40}\b", "ID"),
    (r"\((pid|message) \d+\)", r"(\1)"),
    (r"(?<= )[~/][\w./~-]*", "PATH"),
    (r"mode .*", "mode"),
    (r"(?<=[,:] )(ada|ben) starting", r"\1 idle"),
    (r" +", " "),
)
"""What is another on each machine."""


class Step(NamedTuple):
    """What is typed, and the screen that the page shows then; None when it shows none."""

    typed: str
    screen: str | None


def steps() -> list[Step]:
    blocks = [(match[1], match[2]) for match in FENCED.finditer(PAGE)]
    followers = [*blocks[1:], ("", "")]
    return [
        Step(text, after[1] if after[0] == "text" else None)
        for (language, text), after in zip(blocks, followers, strict=True)
        if not language
    ]


def same_everywhere(text: str) -> str:
    """Return a screen without what is another on each machine."""
    for pattern, word in DIFFERS:
        text = re.sub(pattern, word, text)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def as_shown(screen: str, seen: str) -> bool:
    """Say whether a person sees the screen of the page; `…` there stands for any lines."""
    pattern = "\n".join(re.escape(line) if line != "…" else ".*" for line in same_everywhere(screen).splitlines())
    return bool(re.fullmatch(pattern, same_everywhere(seen), re.DOTALL))


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a person begins: no repository yet, and agents that have their jobs."""
    stand_ins(home, tmp_path, monkeypatch)
    (Path.home() / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.com\n")
    (Path.home() / "jobs.json").write_text(json.dumps(JOBS))
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # both streams in their order, as on a terminal
    (tmp_path / "work").mkdir()
    yield tmp_path / "work"
    typed("pro0 team cleanup shop --force", tmp_path)


def test_every_screen_is_what_a_person_sees(folder: Path) -> None:
    names: dict[str, str] = {}
    for step in steps():
        script = step.typed
        for in_page, here in names.items():
            script = script.replace(in_page, here)
        place = folder / "shop" if (folder / "shop").exists() else folder
        seen = wait_until(lambda: tried(step, script, place), STUCK, f"{script} shows {step.screen}")  # noqa: B023
        if request := re.search(r"member answer (\w{12})", step.screen or ""):
            names[request[1]] = re.findall(r"member answer (\w{12})", seen)[0]


def tried(step: Step, script: str, place: Path) -> str:
    """Type a step, and return what is seen; empty when it is to be tried again."""
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(["sh", "-ec", script], cwd=place, text=True, timeout=STUCK, check=False, **streams)
    seen = done.stdout
    assert done.returncode == 0, (script, seen)
    if step.screen is None or as_shown(step.screen, seen):
        return seen or "nothing"
    assert script.startswith(AFTER_A_WHILE), (
        f"{script}\n{same_everywhere(seen)}\n--- the page shows\n{same_everywhere(step.screen)}"
    )
    return ""


def test_another_screen_is_noticed() -> None:
    assert as_shown("a 1f2e3d4 at 12:00:01\n…\nend", "a  9999999 at 13:10:00\nx\ny\nend\n")
    assert not as_shown("a\nend", "a\nb\nend")
