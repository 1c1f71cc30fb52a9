"""The proofs of agent programs on this machine: keep one, and say what is switched off."""

from functools import partial
from pathlib import Path

from pro0 import looking
from pro0.model.home import AgentAct, Proof, Proofs
from pro0.rules import proving
from pro0.store.files import File, make_folder
from pro0.store.paths import PROOFS

_PROOFS = partial(File, name=PROOFS, kind=Proofs, absent=Proofs)


def known(home: Path) -> Proofs:
    """Return all proofs that are kept; raises StoreError."""
    return _PROOFS(home).read() if looking.is_folder(home) else Proofs()


def keep(home: Path, proof: Proof) -> None:
    """Keep a proof in place of an earlier one of the same version."""
    make_folder(home)
    with _PROOFS(home).change("keep a proof") as change:
        change.value = proving.with_proof(change.value, proof)


def switched_off(home: Path, agent: str, version: str) -> tuple[AgentAct, ...]:
    """Return what is switched off for a version of an agent."""
    return proving.off_for(known(home), agent, version)
