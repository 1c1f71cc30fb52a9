"""Which acts are switched off when checks of an agent program do not hold (behaviour 3.30)."""

import itertools

import pytest

from pro0.model.home import AgentAct, CheckResult, Proof, ProofCheck, Proofs
from pro0.rules import proving
from tests.rules.building import T0

ALL = frozenset(AgentAct)


def results(*missed: ProofCheck) -> list[CheckResult]:
    return [CheckResult(check=check, held=check not in missed) for check in ProofCheck]


def test_nothing_is_off_when_everything_holds() -> None:
    assert proving.switched_off(results(), ALL) == ()


@pytest.mark.parametrize("check", ProofCheck)
def test_one_check_that_does_not_hold_switches_off_all_that_rests_on_it(check: ProofCheck) -> None:
    off = proving.switched_off(results(check), ALL)
    assert off == tuple(act for act in AgentAct if check in proving.NEEDS[act])


@pytest.mark.parametrize("missed", list(itertools.combinations(ProofCheck, 2)))
def test_more_that_does_not_hold_never_switches_off_less(missed: tuple[ProofCheck, ProofCheck]) -> None:
    both = set(proving.switched_off(results(*missed), ALL))
    assert both == {act for one in missed for act in proving.switched_off(results(one), ALL)}


def test_what_was_not_tried_does_not_hold() -> None:
    assert set(proving.switched_off([], ALL)) == ALL
    assert proving.switched_off([], frozenset({AgentAct.TYPING})) == (AgentAct.TYPING,)


def test_states_that_are_off_leave_no_typing() -> None:
    """Nobody types into a pane whose state is not known."""
    assert set(proving.NEEDS[AgentAct.STATES]) <= set(proving.NEEDS[AgentAct.TYPING])


def test_checks_of_what_an_agent_lacks_are_not_tried() -> None:
    assert proving.checks(ALL) == tuple(ProofCheck)
    without = proving.checks(frozenset({AgentAct.TYPING, AgentAct.STATES}))
    assert set(ProofCheck) - set(without) == {ProofCheck.CHANNEL, ProofCheck.ANSWER}


@pytest.mark.parametrize("check", ProofCheck)
def test_each_check_comes_after_those_without_which_it_cannot_be_tried(check: ProofCheck) -> None:
    order = list(ProofCheck)
    assert all(order.index(before) < order.index(check) for before in proving.after(check))
    assert proving.QUESTIONS[check]


def test_the_newest_proof_of_a_version_says_what_is_off() -> None:
    def proof(version: str, *off: AgentAct) -> Proof:
        return Proof(agent="claude", version=version, at=T0, off=off)

    proofs = proving.with_proof(proving.with_proof(Proofs(), proof("1", AgentAct.TYPING)), proof("2", AgentAct.CHANNEL))
    assert proving.off_for(proofs, "claude", "1") == (AgentAct.TYPING,)
    assert proving.off_for(proofs, "claude", "3") == ()
    assert set(proving.off_for_any(proofs, "claude")) == {AgentAct.TYPING, AgentAct.CHANNEL}
    assert proving.off_for_any(proofs, "codex") == ()
    assert (proving.concerned(proofs, "claude"), proving.concerned(proofs, "codex")) == (True, False)
    again = proving.with_proof(proofs, proof("1"))
    assert proving.off_for(again, "claude", "1") == ()
    assert len(again.proofs) == 2


def test_what_is_off_is_told_in_words() -> None:
    assert proving.meaning([]) == ""
    told = [proving.meaning([act]) for act in AgentAct]
    assert all(told)
    assert proving.meaning(AgentAct) == "; ".join(told)
