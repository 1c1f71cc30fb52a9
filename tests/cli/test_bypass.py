"""No command goes around a gate, in a session or outside (issue 6, must show 6; AC-07, AC-10)."""

from pathlib import Path

import pytest

from pro0.cli.task import ALIASES, COMMANDS
from pro0.model.caller import Who
from tests.cli.conftest import Pro0
from tests.gated import FEW, STATES, Homes, furnish
from tests.teams import granted

REST: dict[str, list[str]] = {
    "create": ["x --parent 1", "x --blocked-by 1 --requires review"],
    "list": [""],
    "show": ["1"],
    "ready": [""],
    "next": [""],
    "tree": [""],
    "assign": ["1 w1", "1 --nobody"],
    "comment": ["1 approved", "1 approved --from human"],
    "update": [
        "1 --requires none",
        "1 --requires content",
        "1 --awaiting none",
        "1 --awaiting=",
        "1 --awaiting work",
        "1 --verdict approved",
        "1 --verdict rejected",
        "1 --run true",
        "1 --title other",
    ],
    "block": ["1 2"],
    "unblock": ["1 2"],
    "delete": ["1", "1 --force"],
}
"""What commands are called with; those that are not here take the id alone, and the id with a text."""
COMMAND_LINES = [
    [verb, *rest.split()]
    for verb in (*COMMANDS, *ALIASES)
    for rest in REST.get(ALIASES.get(verb, verb), ["1", "1 words"])
]
EVERY_STATE = [*FEW, *(pytest.param(state, marks=pytest.mark.soak) for state in STATES if state not in FEW)]
CALLERS = {Who.MEMBER: "w1", Who.LEAD_AGENT: "lead", Who.HUMAN: ""}


@pytest.mark.parametrize("who", CALLERS)
@pytest.mark.parametrize("state", EVERY_STATE)
def test_no_command_goes_around_a_gate(
    state: str, who: Who, tmp_path: Path, home: Path, pro0: Pro0, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rulings 2.2, 2.3: every verb and every alias, alone from the same start."""
    made = furnish(tmp_path / "template", state)
    agent = CALLERS[who]
    for name, value in (granted(made, agent) if agent else {}).items():
        monkeypatch.setenv(name, value)
    homes = Homes(tmp_path / "template", home)
    monkeypatch.setenv("PRO0_TEAM", "alpha")
    bypasses, moved = [], set()
    for words in COMMAND_LINES:
        homes.team()
        called = pro0("task", *words)
        assert called.code in (0, 1, 2, 3, 4, 6), (words, called)
        bypasses += [(words, fault) for fault in homes.faults(who)]
        moved |= {words[0]} if homes.moved() else set()
    assert not bypasses
    if (state, who) == ("at its gate", Who.HUMAN):
        assert moved >= {"approve", "reject", "update", "cancel", "delete"}
