"""A newer program beside an older lead says so, once, on stderr (issue 3, build 2)."""

import pytest

from pro0.cli.context import need_lead
from pro0.ops.context import Context


@pytest.mark.parametrize("said", ["", "the lead of alpha is pro0 0.1.0, this is 0.2.0"])
def test_a_notice_and_no_error(
    said: str, team: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pro0.engine.opening.launch.ensure_lead", lambda _team: said)
    shown: list[str] = []
    need_lead(team.team, shown.append)
    assert capsys.readouterr() == ("", f"pro0: {said}\n" if said else "")
    assert shown == ([""] if said else [])  # a line of progress is taken away before
