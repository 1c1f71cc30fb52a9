"""One proof of one agent program, in one or two rounds, and the end of all processes that it started."""

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from pro0.agents import adapter_named, limited
from pro0.agents.adapter import Adapter
from pro0.cli.demo.scratch import Scratch
from pro0.cli.interrupts import Interruption
from pro0.cli.prove.checks import CHECKS
from pro0.cli.prove.pane import NotHeld
from pro0.cli.prove.stage import TEAM, ProofStage, broken_off, make
from pro0.engine.opening.versions import ask_version
from pro0.errors import EnvironmentMissing, ErrorCode, StoreError
from pro0.model.home import AgentAct, CheckResult, Proof, ProofCheck
from pro0.ops import proofs
from pro0.rules import proving
from pro0.scripted_model.server import Provider


class ProofRun(msgspec.Struct, frozen=True):
    """The options of a proof: the seconds for one step, and the callbacks at the beginning and end of each check."""

    patience: float
    interruption: Interruption
    on_check: Callable[[ProofCheck], None]
    on_result: Callable[[CheckResult], None]


def prove(agent: str, run: ProofRun) -> tuple[Proof, tuple[str, ...]]:
    """Return the proof of an installed agent, and the other machines that it tried to reach and could not."""
    adapter = adapter_named(agent)
    version = _version(adapter, run.patience)
    has = acts_of(adapter)
    results, refused = _round(adapter, version, (), proving.checks(has), run)
    off = proving.switched_off(results, has)
    if AgentAct.CHANNEL in off and results[0].held:
        # Typing replaces the channel, so typing is proved in a second round without the channel.
        fewer = has - {AgentAct.CHANNEL}
        second, refused_again = _round(adapter, version, (AgentAct.CHANNEL,), proving.checks(fewer), run)
        off = (*proving.switched_off(second, fewer), AgentAct.CHANNEL)
        results, refused = (*second, _of_channel(results)), {*refused, *refused_again}
    now = datetime.now(UTC)
    in_order = tuple(act for act in AgentAct if act in off)
    return Proof(agent=agent, version=version, at=now, results=tuple(results), off=in_order), tuple(sorted(refused))


def acts_of(adapter: Adapter) -> frozenset[AgentAct]:
    """Return the acts that pro0 can do with an agent."""
    has = {
        AgentAct.TYPING: adapter.delivery == "line",
        AgentAct.STATES: adapter.look is not None or adapter.screens is not None,
        AgentAct.CHANNEL: adapter.deliver is not None,
        AgentAct.ANSWERS: adapter.permissions is not None or adapter.asks_by_hook,
    }
    return frozenset(act for act, is_present in has.items() if is_present)


def _version(adapter: Adapter, patience: float) -> str:
    path = shutil.which(adapter.program)
    if path is None or not shutil.which("tmux"):
        missing = "tmux" if path else adapter.program
        hint = "install tmux" if path else adapter.install
        raise EnvironmentMissing(f"{missing} is not installed", code=ErrorCode.AGENT_MISSING, hint=hint)
    version, why = ask_version(path, patience)
    if why:
        raise EnvironmentMissing(why, code=ErrorCode.AGENT_MISSING, hint="install it again")
    return version


def _require_same(program: str, version: str, stage: ProofStage) -> None:
    """Raise EnvironmentMissing when the proof's home leads to another version of the program than the person's."""
    version_there, why = ask_version(program, stage.patience, environment=stage.environment, folder=stage.project)
    if version_there != version:
        # A shim chooses the program by settings in HOME: another program would be proved, or none.
        reason = why or f"there it is version {version_there}, not {version}"
        raise EnvironmentMissing(
            f"{program} cannot be tried out in a home of its own: {reason}",
            hint=f"put the folder of the program itself, not that of a shim, first in PATH: which -a {program}",
        )


def _round(
    adapter: Adapter, version: str, off: tuple[AgentAct, ...], checks: Iterable[ProofCheck], run: ProofRun
) -> tuple[tuple[CheckResult, ...], set[str]]:
    """Run the checks one by one, with the acts in `off` switched off as in a real session."""
    scratch = Scratch(kind="proof")
    with Provider().serving() as provider:
        try:
            with _of_the_machine():
                make(scratch, adapter.name, provider)
                if off:
                    proofs.keep(scratch.home, Proof(agent=adapter.name, version=version, at=datetime.now(UTC), off=off))
            stage = ProofStage(limited(adapter, off), scratch, provider, run.patience)
            _require_same(adapter.program, version, stage)
            try:
                results = tuple(_tried(stage, checks, run))
            finally:
                with suppress(NotHeld, EnvironmentMissing, OSError):  # scratch.end() below ends everything anyway
                    stage.pro0("team", "cleanup", TEAM, "--force")
        finally:
            run.interruption.clearing_up = True  # a signal takes effect only after the clean-up
            scratch.end()
            scratch.remove()
            run.interruption.clearing_up = False
    run.interruption.check()
    return results, set(provider.refused)


def _tried(stage: ProofStage, checks: Iterable[ProofCheck], run: ProofRun) -> Iterable[CheckResult]:
    missed: set[ProofCheck] = set()
    for check in checks:
        if missed & proving.after(check):
            result = CheckResult(check=check, held=False, why=proving.NOT_TRIED)
        else:
            run.on_check(check)
            result = _result(stage, check)
        if not result.held:
            missed.add(check)
        run.on_result(result)
        yield result


@contextmanager
def _of_the_machine() -> Iterator[None]:
    """Turn an error of this machine in the block into one that does not count against the agent."""
    try:
        yield
    except (OSError, StoreError) as error:
        raise broken_off(str(error)) from error


def _result(stage: ProofStage, check: ProofCheck) -> CheckResult:
    try:
        with _of_the_machine():
            CHECKS[check](stage)
    except NotHeld as error:
        why = str(error)
    except subprocess.SubprocessError as error:
        why = f"{type(error).__name__}: {error}"
    else:
        return CheckResult(check=check, held=True)
    stage.require_room()
    stage.require_understood()
    return CheckResult(check=check, held=False, why=why)


def _of_channel(results: Iterable[CheckResult]) -> CheckResult:
    """Return the failure of the first round for which the channel is switched off."""
    behind = proving.NEEDS[AgentAct.CHANNEL]
    first = next(result for result in results if result.check in behind and not result.held)
    return replace(first, check=ProofCheck.CHANNEL)
