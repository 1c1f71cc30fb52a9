"""A member whose role is typed: told by it, a word of one's own, or probably misspelt."""

import pytest

from pro0.cli.member.seating import seated
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
