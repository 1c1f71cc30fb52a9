"""The program `it2`, a client of iTerm2's Python API; it is only ever run, never imported.

Each argument is a separate word. Exit code 2 means no connection, 3 means no such session.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from pro0.decoding import decode
from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.sessions.starting import surroundings

PATIENCE = 20.0
"""Seconds for one call: a Python program connecting to a socket, on a busy machine."""
INSTALL = "uv tool install it2 (or pip install it2)"
ENABLE = "turn on iTerm2's Settings > General > Magic > Enable Python API, and allow it2 to connect"
OTHER = "use --mode tmux, in-process or headless"

_NO_CONNECTION = 2
_NO_SUCH_SESSION = 3
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_MADE = re.compile(r"Created new pane: (\S+)")
_ROOT = "pid"
"""iTerm2's variable with the process at the root of a session, which a restart by the person changes."""
_AND_TAG = r"""variable=$1 value=$2 root=$3
shift 3
said=$("$0" "$@") || exit
case $said in
    *"Created new pane: "*) ;;
    *) exit 0 ;;
esac
pane=${said##*Created new pane: }
pane=${pane%%[!A-Za-z0-9-]*}
value="$value $("$0" session get-var -s "$pane" -- "$root")"
"$0" session set-var -s "$pane" -- "$variable" "$value" >/dev/null || {
    code=$?
    "$0" session close -f -s "$pane" >/dev/null
    exit $code
}
printf '%s\n' "$said"
"""
_IF_SAME = r"""variable=$1 value=$2
shift 2
[ "$("$0" session get-var -s "$5" -- "$variable")" = "$value" ] || exit 0
exec "$0" "$@"
"""
_PASSED = ("ITERM2_COOKIE", "ITERM2_KEY")


class SessionRow(msgspec.Struct, frozen=True):
    """One session of iTerm2 in the output of `session list --json`."""

    id: str
    title: str = ""
    rows: int = 0


class NoSuchSession(Exception):
    """The named session is gone."""


def sessions() -> list[SessionRow]:
    """Return every session of iTerm2; raises EnvironmentMissing, naming the missing part and its fix."""
    output = call("session", "list", "--json")
    try:
        rows = decode(output, list[SessionRow])
    except msgspec.MsgspecError:
        message = f"{shutil.which('it2')} is not the it2 that pro0 knows: its list of sessions cannot be read"
        raise EnvironmentMissing(message, hint=INSTALL) from None
    return [row for row in rows if _SESSION.fullmatch(row.id)]


def split(session: str, variable: str, value: str, *, vertical: bool) -> str:
    """Make a session beside or below another; set a variable on it to a value and its root process; return its id.

    One program does both, even when this process is killed meanwhile. So no session is left without a known owner.
    """
    words = ("session", "split", *(("-v",) if vertical else ()), "-s", session)
    output = call(*words, script=(_AND_TAG, f"user.{variable}", value, _ROOT))
    match = _MADE.search(output.decode(errors="replace"))
    if not match or not _SESSION.fullmatch(match[1]):
        raise EnvironmentMissing("it2 split a session and did not say which is the new one", hint=INSTALL)
    return match[1]


def send(session: str, text: str) -> None:
    """Type a text into a session, without an Enter."""
    call("session", "send", "-s", session, "--", text)


def read(session: str) -> list[str]:
    """Return the rows of a session's screen."""
    return call("session", "read", "-s", session).decode(errors="replace").removesuffix("\n").split("\n")


def history(session: str) -> list[str]:
    """Return the scrolled-away rows and the screen's rows of a session; it2 writes them to a file only."""
    with tempfile.TemporaryDirectory(prefix="pro0-") as folder:
        path = Path(folder) / "history"
        call("session", "capture", "-s", session, "-o", str(path), "--history")
        try:
            return path.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError as error:
            raise EnvironmentMissing(f"it2 says that it has written {path}, but: {error}", hint=INSTALL) from None


def name(session: str, text: str) -> None:
    """Set a session's name."""
    call("session", "set-name", "-s", session, "--", text)


def tag(session: str, variable: str, value: str) -> None:
    """Set a variable of a session."""
    call("session", "set-var", "-s", session, "--", f"user.{variable}", value)


def tagged(session: str, variable: str) -> str:
    """Return a variable of a session, or "" when it is not set or the session is gone."""
    try:
        value = call("session", "get-var", "-s", session, "--", f"user.{variable}").decode(errors="replace").strip()
    except NoSuchSession:
        return ""
    return "" if value == f"Variable 'user.{variable}' not set" else value


def focus(session: str) -> None:
    """Bring a session to the front."""
    call("session", "focus", "--", session)


def close(session: str, root: str = "") -> None:
    """Close a session; with a root, only while that process is its root: one program checks and closes."""
    only = (_IF_SAME, _ROOT, root) if root.isdecimal() else ()
    call("session", "close", "-f", "-s", session, script=only)


def own_session(environment: Mapping[str, str]) -> str:
    """Return the id of this terminal's session, or "" outside iTerm2; the variable holds `w0t0p0:ID`."""
    session = environment.get("ITERM_SESSION_ID", "").rpartition(":")[2]
    return session if _SESSION.fullmatch(session) else ""


def verify(environment: Mapping[str, str]) -> str:
    """Return this terminal's session; raises EnvironmentMissing, naming the missing part and its fix."""
    session = own_session(environment)
    if not session:
        raise EnvironmentMissing("this terminal is not a session of iTerm2: ITERM_SESSION_ID is not set", hint=OTHER)
    if session not in {row.id for row in sessions()}:
        raise EnvironmentMissing(f"iTerm2 does not know the session of this terminal, {session}", hint=OTHER)
    return session


def call(*words: str, script: tuple[str, ...] = ()) -> bytes:
    """Run `it2` and return its output; raises EnvironmentMissing, or NoSuchSession.

    `script` is a shell script that makes the call, followed by the script's own arguments.
    """
    program = shutil.which("it2")
    if program is None:
        raise EnvironmentMissing("it2 is not installed, and pro0 needs it for iTerm2", hint=f"{INSTALL}, or {OTHER}")
    try:
        done = subprocess.run(
            [*(("/bin/sh", "-c", script[0], program, *script[1:]) if script else (program,)), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            env=_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentMissing(f"it2 does not answer: {error}", hint=ENABLE) from None
    if done.returncode == _NO_SUCH_SESSION:
        raise NoSuchSession
    if done.returncode:
        reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[0]
        hint = ENABLE if done.returncode == _NO_CONNECTION else None
        raise EnvironmentMissing(f"it2 {words[0]} {words[1]} failed: {reason}", code=ErrorCode.IT2_FAILED, hint=hint)
    return done.stdout


def _environment() -> dict[str, str]:
    return surroundings() | {name: os.environ[name] for name in _PASSED if name in os.environ}
