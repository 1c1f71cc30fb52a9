"""What was proved of agent programs is kept for each version, and says what is switched off."""

from datetime import timedelta
from pathlib import Path

from pro0.model.home import AgentAct, Proof
from pro0.ops import proofs
from pro0.rules.proving import VERSIONS
from tests.teams import NOW


def proof(version: str, *off: AgentAct, agent: str = "claude", minutes: int = 0) -> Proof:
    return Proof(agent=agent, version=version, at=NOW + timedelta(minutes=minutes), off=off)


def test_the_newest_proof_of_a_version_counts_for_it_alone(home: Path) -> None:
    assert proofs.switched_off(home, "claude", "2.0.0") == ()
    proofs.keep(home, proof("2.0.0", AgentAct.TYPING, AgentAct.STATES))
    proofs.keep(home, proof("2.0.1", AgentAct.CHANNEL))
    proofs.keep(home, proof("2.0.0", AgentAct.ANSWERS, agent="codex"))
    assert proofs.switched_off(home, "claude", "2.0.0") == (AgentAct.TYPING, AgentAct.STATES)
    assert proofs.switched_off(home, "claude", "2.0.1") == (AgentAct.CHANNEL,)
    assert proofs.switched_off(home, "claude", "2.0.2") == ()
    proofs.keep(home, proof("2.0.0"))
    assert proofs.switched_off(home, "claude", "2.0.0") == ()
    assert proofs.switched_off(home, "codex", "2.0.0") == (AgentAct.ANSWERS,)


def test_few_versions_of_an_agent_are_kept_the_newest_proofs(home: Path) -> None:
    proofs.keep(home, proof("1.0.0", agent="pi"))
    for number in range(2 * VERSIONS):
        proofs.keep(home, proof(f"2.0.{number}", minutes=number))
    kept = [one.version for one in proofs.known(home).proofs if one.agent == "claude"]
    assert kept == [f"2.0.{number}" for number in range(VERSIONS, 2 * VERSIONS)]
    assert [one.version for one in proofs.known(home).proofs if one.agent == "pi"] == ["1.0.0"]
