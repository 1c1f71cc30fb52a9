"""Whatever is said to a member, its terminal gets the fixed line about mail and nothing else (checks 35, 36, 37)."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0.model.task import Draft
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team.members import SeatDraft
from tests.contracts.stages import RECORDER
from tests.contracts.stand_in import terminal_for
from tests.engine.crew import PATIENCE, Crew, crew
from tests.hostile.payloads import PAYLOADS
from tests.waiting import wait_until

TYPED = (
    *(
        ";",
        "x;",
        "\\;",
        "-R",
        "--",
        "Enter",
        "C-c",
        "#(touch X)",
        "\t",
        "a\r\nb",
        "!touch X",
        "/exit",
        "/clear",
        "#mem",
    ),
    *("@/etc/passwd", "&", " !touch X", "\n/exit", "$(touch X)", "`touch X`", "x" * 1025, "x" * 65536, "\x03", "\x04"),
)
"""What a terminal, tmux, a shell or an agent's input takes for more than text."""
LINES = re.compile(rb"(?:(?:\x1b\[200~)?You have \d+ unread messages?: run `pro0 inbox`(?:\x1b\[201~)?\r)*")
MODES = ("tmux", *(pytest.param(mode, marks=pytest.mark.soak) for mode in ("in-process", "iterm2")))


@pytest.fixture(params=MODES)
def alpha(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Crew]:
    """A team with a lead, and a member that writes every byte down."""
    with terminal_for(request.param, tmp_path), crew(home, tmp_path, request.param) as made:
        made.lead()
        yield made


def test_no_word_of_what_is_said_is_typed(alpha: Crew, tmp_path: Path) -> None:
    record = tmp_path / "record"
    argv = (sys.executable, "-c", RECORDER, str(record))
    alpha.spawn(SeatDraft(name="w1", agent="command", argv=argv, nudge=True))
    wait_until(record.exists, PATIENCE, "it records")
    texts = (*TYPED, *(text for text in PAYLOADS.values() if text.isascii()))
    said = [text if text.strip() else f"{text}x" for text in texts]  # a message without a text is refused
    for text in said:
        messages.send(alpha.context, "w1", text)
        alpha.give(Draft(title=" ".join(text[:99].split()) or "x", description=text, assignee="w1"))
    all_of_it = re.compile(rb"You have %d unread messages[^\r]*\r" % (2 * len(said)))
    wait_until(lambda: all_of_it.search(record.read_bytes()), PATIENCE, "it is told of all of it")
    assert LINES.fullmatch(record.read_bytes())
    assert {message.content for message in alpha.mail("w1")} >= set(said)
    assert not [path for path in (tmp_path, alpha.project) if (path / "X").exists()]
    assert len(tasks.list_tasks(alpha.context)) == len(said)
