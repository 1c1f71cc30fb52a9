"""The agent programs on this machine, and whether a member could run them."""

import re
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import msgspec

from pro0.agents import defined
from pro0.agents.adapter import Adapter
from pro0.agents.installed import how_to_get
from pro0.engine.opening.versions import ask_version
from pro0.model.agent import Definition, offered
from pro0.model.home import AgentAct, Proofs
from pro0.ops import proofs
from pro0.rules import proving

AT_ONCE = 4
"""The most programs asked at the same time: each may be large, and use a whole processor while it starts."""


class AgentProgram(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One agent on this machine."""

    agent: str
    program: str
    """Its executable; empty for an agent that comes with pro0 or runs a given command."""
    path: str = ""
    version: str = ""
    seen: str = ""
    """The newest version with which pro0's rules were proved, empty for none."""
    unproved: bool = False
    """Whether the installed version is outside the proved ones, and was not tried on this machine either."""
    proved: datetime | None = None
    """The time when this version was last tried on this machine."""
    off: tuple[AgentAct, ...] = ()
    """The acts switched off for this version, because their checks failed on this machine."""
    usable: bool = False
    missing: tuple[str, ...] = ()
    """What is missing before a member can run it, as sentences."""
    state: tuple[str, ...] = ()
    """The sources of its state, the most trusted first."""
    delivery: tuple[str, ...] = ()
    """The ways in which it learns of mail; the first that works is used."""
    resumes: bool = False
    """Whether a session of it can go on after a reboot."""


def programs(definitions: Mapping[str, Definition], home: Path, show: Callable[[str], None]) -> list[AgentProgram]:
    """Return every agent, including those of the settings.

    Their programs are asked for their versions in parallel; `show` gets the names of those that have not answered.
    """
    known = proofs.known(home)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        names = sorted({*offered(), *definitions})
        answers = {name: pool.submit(look, defined(name, definitions.get(name)), known) for name in names}
        while waiting := [name for name, answer in answers.items() if not answer.done()]:
            show(f"asking {', '.join(waiting)}")
            time.sleep(0.05)
    return [answer.result() for answer in answers.values()]


def look(adapter: Adapter, known: Proofs) -> AgentProgram:
    """Return one agent, after asking its program for the version."""
    bare = AgentProgram(
        agent=adapter.name,
        program=adapter.program,
        seen=adapter.tested[-1] if adapter.tested else "",
        state=tuple(_state(adapter)),
        delivery=tuple(_delivery(adapter)),
        resumes=adapter.session_ids != "none",
    )
    if not adapter.program:
        return msgspec.structs.replace(bare, usable=True)
    path = shutil.which(adapter.program)
    if path is None:
        how = how_to_get(adapter)
        return msgspec.structs.replace(bare, missing=(f"{adapter.program} is not installed: {how}",))
    version, why = ask_version(path)
    missing = [why] if why else []
    if adapter.screens and not shutil.which("tmux"):
        missing.append("tmux is not installed, and this agent runs only in a terminal")
    proof = proving.proof_of(known, adapter.name, version)
    unproved = not proof and bool(version and adapter.tested) and not _is_tried(version, adapter.tested)
    program = msgspec.structs.replace(bare, path=path, version=version, unproved=unproved)
    if proof:
        program = msgspec.structs.replace(program, proved=proof.at, off=proof.off)
    return msgspec.structs.replace(program, usable=not missing, missing=tuple(missing))


def unproved(program: AgentProgram) -> str:
    """Return a warning for a program newer or older than all proved versions, else an empty text."""
    if not program.unproved:
        return ""
    if _numbers(program.version) < _numbers(program.seen):
        return f"{program.version} is older than any version that pro0's rules for its states were proved with"
    return f"{program.version} is newer than {program.seen}, the last that pro0's rules for its states were proved with"


def switched_off(program: AgentProgram) -> str:
    """Return a warning for a program with failed checks, else an empty text."""
    return f"{program.version} failed checks of pro0 agent prove: {proving.meaning(program.off)}" if program.off else ""


def _is_tried(version: str, tested: tuple[str, ...]) -> bool:
    return _numbers(tested[0]) <= _numbers(version) <= _numbers(tested[-1])


def _numbers(version: str) -> tuple[int, ...]:
    digits = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, digits[0].split("."))) if digits else ()


def _state(adapter: Adapter) -> Iterable[str]:
    if adapter.look:
        yield "own"
    if adapter.screens and adapter.screens.titles:
        yield "title"
    if adapter.screens:
        yield "screen"
    yield "process"


def _delivery(adapter: Adapter) -> Iterable[str]:
    if adapter.deliver:
        yield "own"
    if adapter.asks_at_turn_end:
        yield "turn-end"
    if adapter.delivery == "watches":
        yield "mailbox"
    if adapter.delivery == "line":
        yield "line"
