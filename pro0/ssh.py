"""Run commands on other machines over the person's OpenSSH, with its host names, config, keys and connections."""

import itertools
import os
import re
import selectors
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pro0.errors import BadInput, EnvironmentMissing, ErrorCode

CONNECT = 10
"""Seconds that ssh may take to connect to another machine."""
LIMIT = 4 << 20
"""The most bytes that a remote command may print."""
WHY = 500
"""The most characters kept of each line on its stderr."""
FAILED = 255
"""The exit code of ssh itself, when it cannot connect or log in."""
NO_PROGRAM = 127
NOT_BEGUN = 69
"""The exit code of a session that its machine did not start."""
LOST = 70
"""The exit code of a session whose agent ended on another machine in an unknown way."""
_NAME = re.compile(r"(?!-)[A-Za-z0-9._@%:\[\]-]{1,255}")
_OPTIONS = ("-T", "-a", "-x", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT}", "-o", "ClearAllForwardings=yes")
"""Ask the person nothing, and forward nothing of this machine: no terminal, keys, display or ports."""
_PLAIN = ("-o", "RemoteCommand=none", "-o", "PermitLocalCommand=no")
"""Commands of the person's config: ssh refuses to run ours beside one, and the other prints into our answers."""
_GUEST = ("-o", "ControlMaster=no")
"""Use an existing shared connection, but never make one: its end would cut off the person's own work over it."""
_ALIVE = ("-o", "ServerAliveInterval=3", "-o", "ServerAliveCountMax=2")
"""A machine that is silent for so long counts as out of reach, even when the network reports no error."""
_THERE = 'PATH=$PATH:$HOME/.local/bin; export PATH; exec "$@"'
"""Adds the usual folder of installed programs to the PATH of a command over ssh, which lacks it."""
_PRO0 = "pro0: "
_TIED = 'exec 3<&0; { read -r _ <&3; kill -s KILL 0; } >/dev/null 2>&1 & exec "$@" 3<&- </dev/null'
"""Runs a command without input, and kills its process group once nobody holds the outer stdin open any more."""


class Heard(NamedTuple):
    """The result of a command on another machine, and the seconds that it took."""

    code: int
    out: bytes
    errors: str
    seconds: float


def host(name: str) -> str:
    """Return a host name that OpenSSH accepts; raises BadInput for a text that it could take for something else."""
    if not _NAME.fullmatch(name):
        hint = "a name that `ssh NAME` reaches, such as one of ~/.ssh/config"
        raise BadInput(f"{name!r} cannot be the name of a host", hint=hint)
    return name


def known(ssh: str) -> list[str]:
    """Return the host names in the person's OpenSSH config, without patterns."""
    chosen = [after for word, after in itertools.pairwise(_words(ssh)) if word == "-F"]
    try:
        config = Path(chosen[-1]) if chosen else Path("~/.ssh/config").expanduser()
        lines = config.read_text(errors="replace").splitlines()
    except OSError:
        return []
    entries = (line.split() for line in lines)
    names = [name for keyword, *names in filter(None, entries) if keyword.lower() == "host" for name in names]
    return sorted({name for name in names if _NAME.fullmatch(name)})


def argv(ssh: str, name: str, words: tuple[str, ...]) -> list[str]:
    """Return the argv to run a command on a host; `ssh` is the person's own command line of ssh.

    Raises EnvironmentMissing when this machine has no such program.
    """
    line, command = f"exec {shlex.join(('/bin/sh', '-c', _THERE, 'sh', *words))}", _words(ssh)
    if not shutil.which(command[0]):
        raise EnvironmentMissing(f"{ssh} cannot be run: there is no such program", hint="install OpenSSH's client")
    return [*command, *_OPTIONS, *_PLAIN, *_GUEST, *_ALIVE, "--", host(name), line]


def reason(error_text: str) -> str:
    """Return the reason of a remote failure: pro0's first line, else the last one, below any banner of ssh."""
    lines = [line.strip() for line in error_text.splitlines() if line.strip()]
    reasons = [line.removeprefix(_PRO0) for line in lines if line.startswith(_PRO0)]
    return reasons[0] if reasons else lines[-1] if lines else ""


def _words(ssh: str) -> list[str]:
    """Return the words of the person's command; `~` is their home, as in a shell."""
    return [os.path.expanduser(word) for word in shlex.split(ssh)]  # noqa: PTH111 - an unknown `~user` stays


def run(ssh: str, name: str, words: tuple[str, ...], patience: float) -> Heard:
    """Run a command on a host.

    Raises EnvironmentMissing when ssh cannot connect, or when the command takes too long or prints too much.
    """
    line = argv(ssh, name, words)
    answer = listen(line, name, patience, hint=_try(name))
    if answer.code == FAILED:
        raise _unreached(name, answer.errors)
    return answer


def listen(
    words: list[str],
    who: str,
    patience: float,
    *,
    hint: str | None = None,
    environment: dict[str, str] | None = None,
    folder: Path | None = None,
) -> Heard:
    """Run a command that talks to another machine; raises EnvironmentMissing when it takes too long or prints too much.

    The command ends with this process, however this process ends: the other machine may never answer.
    """
    began, pipe, tied = time.monotonic(), subprocess.PIPE, ("/bin/sh", "-c", _TIED, "sh", *words)
    with subprocess.Popen(
        tied, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd=folder, start_new_session=True
    ) as process:
        assert process.stdin
        try:
            out, errors = _read(process, began + patience, lambda why: _unheard(f"{who} {why}", hint))
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdin.close()
    error_text = "\n".join(row[:WHY] for row in errors.decode(errors="replace").strip().splitlines())
    return Heard(process.returncode, out, error_text, time.monotonic() - began)


def _read(
    process: "subprocess.Popen[bytes]", deadline: float, unheard: Callable[[str], EnvironmentMissing]
) -> tuple[bytes, bytes]:
    """Return stdout and stderr of a process after its end; raises the error made by `unheard` at a limit."""
    read: dict[object, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            assert stream
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise unheard("does not answer in time")
            for key, _ in ready:
                data = key.fileobj.read1(1 << 16)  # type: ignore[union-attr]
                read[key.fileobj] += data
                if not data:
                    selector.unregister(key.fileobj)
            if any(len(text) > LIMIT for text in read.values()):
                raise unheard("printed too much")
    try:
        process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise unheard("does not answer in time") from None
    return bytes(read[process.stdout]), bytes(read[process.stderr])


def _unheard(why: str, hint: str | None) -> EnvironmentMissing:
    return EnvironmentMissing(why, code=ErrorCode.UNREACHED, hint=hint)


def _unreached(name: str, error_text: str) -> EnvironmentMissing:
    why = reason(error_text) or "ssh gave no reason"
    return EnvironmentMissing(f"{name} cannot be reached: {why}", code=ErrorCode.UNREACHED, hint=_try(name))


def _try(name: str) -> str:
    return f"this must work without a question: ssh {name} true"
