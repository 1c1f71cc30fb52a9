"""A member whose role is typed: told by it, a word of one's own, or probably misspelt."""

import pytest

from pro0.cli.member.seating import say_unread, seated
from pro0.cli.team.layout_file import drafts_of
from pro0.model.layout import Layout, LayoutMember
from pro0.ops.tasks.drafts import SeatDraft
from tests.cli.conftest import Pro0


@pytest.mark.parametrize(
    ("role", "told", "said"),
    [
        ("engineer", True, ""),
        ("Engineer", True, ""),
        ("", False, ""),
        ("tester", False, ""),
        ("enginer", False, "there is no role enginer: ada gets only this word as its role; did you mean engineer?\n"),
    ],
)
def test_a_role_that_nearly_is_one_is_named(
    role: str, told: bool, said: str, pro0: Pro0, capfd: pytest.CaptureFixture[str]
) -> None:
    assert bool(seated(SeatDraft(name="ada", role=role)).prompt) == told
    assert capfd.readouterr().err == said


@pytest.mark.parametrize(
    ("agent", "prompt", "said"),
    [
        ("shell", "build it", "the prompt of w1 has no effect: a shell reads no prompt"),
        ("command", "build it", "the prompt of w1 has no effect: a program is run as it is"),
        ("shell", "", ""),
        ("claude", "build it", ""),
    ],
)
def test_a_prompt_that_nobody_reads_is_said(
    agent: str, prompt: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    say_unread(SeatDraft(name="w1", agent=agent, prompt=prompt))
    spawned = capfd.readouterr().err
    drafts_of(Layout(members=(LayoutMember(name="w1", agent=agent, prompt=prompt),)))
    assert spawned == capfd.readouterr().err
    assert spawned.startswith(said)
    assert bool(spawned) == bool(said)
