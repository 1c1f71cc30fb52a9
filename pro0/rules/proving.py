"""The proofs of an agent program, and the acts that a failed check switches off."""

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from pro0.model.home import AgentAct, CheckResult, Proof, ProofCheck, Proofs

NEEDS = {
    AgentAct.TYPING: (
        ProofCheck.READY,
        ProofCheck.WORKING,
        ProofCheck.DRAFT,
        ProofCheck.DRAFT_MAIL,
        ProofCheck.PERMISSION,
        ProofCheck.PERMISSION_MAIL,
    ),
    AgentAct.STATES: (ProofCheck.READY, ProofCheck.WORKING, ProofCheck.PERMISSION),
    AgentAct.CHANNEL: (
        *(
            ProofCheck.READY,
            ProofCheck.IDLE_MAIL,
            ProofCheck.WORKING_MAIL,
            ProofCheck.DRAFT_MAIL,
            ProofCheck.PERMISSION_MAIL,
        ),
        ProofCheck.CHANNEL,
    ),
    AgentAct.ANSWERS: (ProofCheck.PERMISSION, ProofCheck.ANSWER),
}
"""The checks behind each act: a check that did not hold, or was not tried, switches the act off."""
QUESTIONS = {
    ProofCheck.READY: "does it start, take its first prompt, and become idle?",
    ProofCheck.IDLE_MAIL: "does it read mail that comes while it is idle?",
    ProofCheck.WORKING: "does pro0 see that it works?",
    ProofCheck.WORKING_MAIL: "does it read mail that comes while it works?",
    ProofCheck.DRAFT: "does pro0 see what somebody types?",
    ProofCheck.DRAFT_MAIL: "does mail leave a draft alone?",
    ProofCheck.PERMISSION: "does pro0 see that it asks a person?",
    ProofCheck.PERMISSION_MAIL: "does mail leave a question alone?",
    ProofCheck.CHANNEL: "does its own channel carry its mail?",
    ProofCheck.ANSWER: "can its permissions be answered from elsewhere?",
    ProofCheck.USAGE: "are its tokens counted?",
    ProofCheck.RESUME: "does its conversation go on after a kill?",
    ProofCheck.END: "does it end when asked to?",
}
"""What each check asks."""
VERSIONS = 5
"""The number of versions of one agent whose proofs are kept, the newest ones."""
NOT_TRIED = "not tried"


def checks(has: Collection[AgentAct]) -> tuple[ProofCheck, ...]:
    """Return the checks for an agent with these acts, in order."""
    needless = {check for act, check in _OWN.items() if act not in has}
    return tuple(check for check in ProofCheck if check not in needless)


def after(check: ProofCheck) -> frozenset[ProofCheck]:
    """Return the checks that must hold before this one can be tried."""
    return frozenset({ProofCheck.READY, *_AFTER.get(check, ())} - {check})


def switched_off(results: Iterable[CheckResult], has: Collection[AgentAct]) -> tuple[AgentAct, ...]:
    """Return those acts of an agent that must be switched off."""
    held = {result.check for result in results if result.held}
    return tuple(act for act in AgentAct if act in has and not held.issuperset(NEEDS[act]))


_OWN = {AgentAct.CHANNEL: ProofCheck.CHANNEL, AgentAct.ANSWERS: ProofCheck.ANSWER}
_AFTER = {ProofCheck.PERMISSION_MAIL: (ProofCheck.PERMISSION,), ProofCheck.ANSWER: (ProofCheck.PERMISSION,)}


def with_proof(proofs: Proofs, proof: Proof) -> Proofs:
    """Return the proofs with a new one, which replaces an earlier proof of the same version."""
    others = [entry for entry in proofs.proofs if (entry.agent, entry.version) != (proof.agent, proof.version)]
    same_agent = sorted((entry for entry in others if entry.agent == proof.agent), key=lambda entry: entry.at)
    dropped = same_agent[: max(0, len(same_agent) - VERSIONS + 1)]
    return replace(proofs, proofs=(*(entry for entry in others if entry not in dropped), proof))


def proof_of(proofs: Proofs, agent: str, version: str) -> Proof | None:
    """Return the proof of that version, None without one."""
    return next((entry for entry in proofs.proofs if (entry.agent, entry.version) == (agent, version)), None)


def off_for(proofs: Proofs, agent: str, version: str) -> tuple[AgentAct, ...]:
    """Return the acts that are switched off for that version; none for an untried version."""
    proof = proof_of(proofs, agent, version)
    return proof.off if proof else ()


def off_for_any(proofs: Proofs, agent: str) -> tuple[AgentAct, ...]:
    """Return the acts switched off for any version of an agent."""
    off = {act for proof in proofs.proofs if proof.agent == agent for act in proof.off}
    return tuple(act for act in AgentAct if act in off)


def concerned(proofs: Proofs, agent: str) -> bool:
    """Return True when an act is switched off for any version of an agent."""
    return any(proof.off for proof in proofs.proofs if proof.agent == agent)


def meaning(off: Iterable[AgentAct]) -> str:
    """Return what switched-off acts mean, as one sentence; an empty text for none."""
    return "; ".join(MEANINGS[act] for act in off)


MEANINGS = {
    AgentAct.TYPING: "nothing is typed into its pane",
    AgentAct.STATES: "its state tells only whether its process runs",
    AgentAct.CHANNEL: "mail does not go by its own channel",
    AgentAct.ANSWERS: "its permissions are answered only in its pane",
}
"""What it means that an act is switched off."""
