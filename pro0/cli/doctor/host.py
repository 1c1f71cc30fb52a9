"""The checks of `pro0 doctor --host`: another machine's own findings, and what it lacks for members."""

import re
from collections.abc import Iterator

import msgspec

from pro0 import __version__, ssh
from pro0.cli.doctor.checks import Check, Health
from pro0.decoding import decode
from pro0.errors import EnvironmentMissing

MOST = 100
"""The most checks shown of the other machine's doctor."""
PATIENCE = 60.0
"""Seconds for the other machine's doctor, which starts every agent's program once."""
_ASKED = ("/bin/sh", "-c", "pro0 --version && exec pro0 doctor --json")
_VERSION = re.compile(r"^pro0 (\S{1,40})", re.M)
_CONCERNS = re.compile(r"python|git|in-process|agent [a-z0-9-]+")
"""The checks there that matter to members: they run in pro0's own terminals, and that machine's teams do not matter."""


class _Row(msgspec.Struct):
    name: str
    state: Health
    what: str
    mend: str = ""


class _Told(msgspec.Struct):
    checks: list[_Row]


def host(name: str, command: str) -> Iterator[Check]:
    """Check that ssh reaches a machine and that it has this version of pro0; add its own doctor's findings."""
    try:
        answer = ssh.run(command, ssh.host(name), _ASKED, PATIENCE)
    except EnvironmentMissing as error:
        yield Check("ssh", Health.FAIL, error.message, error.hint or "")
        return
    yield Check("ssh", Health.OK, f"{name} answers")
    text = answer.out.decode(errors="replace")
    said, _, rest = text.partition("\n")
    if not _VERSION.match(text) and _VERSION.search(text):  # a link would not recognize this as pro0
        shell = f"its shell prints something before pro0: {said[: ssh.WHY]}"
        yield Check("pro0", Health.FAIL, shell, f"make sure that this prints nothing: ssh {name} true")
        return
    yield (pro0 := _pro0(name, answer, said))
    if pro0.verdict is Health.OK:
        yield from _machine(name, rest)


def _pro0(name: str, answer: ssh.Heard, said: str) -> Check:
    """Check that the machine has this version of pro0: another one may not understand its messages."""
    version = _VERSION.match(said)
    mend = f"install pro0 {__version__} there; this must print it: ssh {name} '~/.local/bin/pro0 --version'"
    if version is None:
        why = answer.errors.splitlines()[-1:] if answer.code not in (0, ssh.NO_PROGRAM) else []
        return Check("pro0", Health.FAIL, f"not installed there: {why[0]}" if why else "not installed there", mend)
    if version[1] != __version__:
        return Check("pro0", Health.FAIL, f"{version[1]} there, {__version__} here", mend)
    return Check("pro0", Health.OK, said.strip())


def _machine(name: str, text: str) -> Iterator[Check]:
    try:
        told = decode(text, _Told)
    except (msgspec.MsgspecError, RecursionError):
        yield Check(
            "doctor",
            Health.FAIL,
            "its pro0 doctor gives no readable answer",
            f"see what it prints: ssh {name} pro0 doctor",
        )
        return
    for row in told.checks[:MOST]:
        if _CONCERNS.fullmatch(row.name):
            yield Check(row.name, row.state, row.what[: ssh.WHY], row.mend[: ssh.WHY])
