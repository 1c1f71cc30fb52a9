"""What a member's agent cannot do is refused before anything is made: modes, plans, delegating."""

import pytest

from pro0.agents import adapter_named
from pro0.errors import BadInput, EnvironmentMissing
from pro0.model.agent import AGENTS, PROGRAMS, Definition, Modes, Places, modes_of
from pro0.model.team import PermissionMode
from pro0.ops.tasks.drafts import SeatDraft, limitable, startable

NOWHERE = "/no/program/is/here"
"""A PATH: whoever may start is then told that the program is missing."""
MINE = Definition(argv=("mine", "{prompt}"))
LEADING = [name for name in AGENTS if name != "runner" and adapter_named(name).delegates]


@pytest.fixture
def careful(monkeypatch: pytest.MonkeyPatch) -> SeatDraft:
    """An agent of pro0's own that has two modes."""
    monkeypatch.setitem(PROGRAMS, "careful", Places(AGENTS["claude"], modes=("ask", "bypass")))
    monkeypatch.setitem(AGENTS, "careful", AGENTS["claude"])
    return SeatDraft(name="w1", agent="careful")


def test_an_agent_of_ours_is_refused_a_mode_that_its_row_does_not_name(careful: SeatDraft) -> None:
    """Behaviour 3.17."""
    for mode in PermissionMode.ASK, PermissionMode.BYPASS:
        limitable(careful, mode)
    with pytest.raises(BadInput, match="the agent careful has no permission mode edits") as refusal:
        startable(careful, PermissionMode.EDITS, NOWHERE)
    assert refusal.value.hint == "--permission-mode ask or bypass"


def test_an_agent_of_ours_without_the_mode_plan_is_not_kept_to_planning_first(careful: SeatDraft) -> None:
    draft = SeatDraft(name="w1", agent=careful.agent, plan=True)
    with pytest.raises(BadInput, match="the agent careful cannot be made to plan first"):
        startable(draft, PermissionMode.ASK, NOWHERE)


@pytest.mark.parametrize("mode", PermissionMode)
@pytest.mark.parametrize("draft", [SeatDraft(name="w1"), SeatDraft(name="w1", agent="mine", definition=MINE)])
def test_an_agent_without_modes_is_started_in_all_of_them(draft: SeatDraft, mode: PermissionMode) -> None:
    assert modes_of(draft.agent, draft.definition) == ()
    limitable(draft, mode)


def test_a_definition_has_the_modes_that_it_names() -> None:
    assert modes_of("mine", Definition(argv=("mine",), modes=Modes(plan=("-p",), ask=()))) == ("ask", "plan")
    assert modes_of("long gone", None) == ()


@pytest.mark.parametrize("agent", LEADING)
def test_a_lead_agent_of_ours_can_be_kept_to_delegating(agent: str) -> None:
    with pytest.raises(EnvironmentMissing):
        startable(SeatDraft(name="lead", agent=agent, leads=True, delegates=True), PermissionMode.ASK, NOWHERE)


def test_a_lead_agent_that_nothing_keeps_to_delegating_is_refused() -> None:
    """Behaviour 1.4: its first prompt alone would say so."""
    draft = SeatDraft(name="lead", agent="mine", definition=MINE, leads=True, delegates=True)
    with pytest.raises(BadInput, match="the agent mine cannot be limited to delegating") as refusal:
        startable(draft, PermissionMode.ASK, NOWHERE)
    assert refusal.value.hint == "leave out --delegate-only"
