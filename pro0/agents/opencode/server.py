"""The HTTP server of one opencode: it reports on its sessions and takes prompts.

A person begins another session with `/new`, or picks one with `/sessions`. The server does not say which one is shown.
It knows of its own turns alone, so a turn that pro0 did not begin is one of the person in this pane.
"""

import base64
import http.client
import re
import socket
import time
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.memory import Memory
from pro0.agents.opencode.database import OURS, learned, roots, spoken_in, turn
from pro0.agents.transcripts import shortened, value
from pro0.decoding import decoder
from pro0.model.need import AskedPermission, Choice, PermissionAnswer
from pro0.model.runtime import State
from pro0.model.screen import Reading
from pro0.rules.screens.words import Words

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

SERVER = "server.json"
PASSWORD = "OPENCODE_SERVER_PASSWORD"
PATIENCE = 0.3
"""The time limit of one look, in seconds."""
HAND_OVER = 10.0
"""The time limit of handing a line over, in seconds."""
PAUSE = 2.0
"""The pause after a timeout, in seconds; other sessions need the time."""
_IDLE = "idle"
STATUSES = Words(
    source="http",
    place="status",
    states={"busy": State.WORKING, "retry": State.WORKING, _IDLE: State.IDLE},
)
_LARGEST = 1 << 20
"""The longest answer to read, in bytes."""


class OpenCodeServer(msgspec.Struct):
    """The server's port and password, as stored in the session's folder."""

    port: int
    password: str


class _Status(msgspec.Struct):
    type: object = ""
    message: str = ""


class _Question(msgspec.Struct, rename={"session": "sessionID"}):
    session: str = ""


class _Asked(msgspec.Struct, rename={"session": "sessionID"}):
    id: str = ""
    session: str = ""
    permission: str = ""
    patterns: list[object] = []
    metadata: dict[str, object] = {}
    always: list[object] = []


_SESSION = re.compile(r"ses_\w+")
_REQUEST = re.compile(r"per_\w+")
_REPLIES = {Choice.ALLOW: "once", Choice.ALWAYS: "always", Choice.DENY: "reject"}
_SERVER = decoder(OpenCodeServer)
_STATUSES = decoder(dict[str, _Status])
_PERMISSIONS = decoder(list[_Asked])
_QUESTIONS = decoder(list[_Question])
_FAILURES = (OSError, http.client.HTTPException, msgspec.MsgspecError, ValueError, RecursionError)


def look(session_view: SessionView, memory: Memory) -> Reading | None:
    """Ask the server about its sessions; while it is too busy, the database decides."""
    server = value(Path(session_view.folder, SERVER), _SERVER)
    session = session_view.session or learned(session_view)
    if server and time.monotonic() >= memory.pause_until:
        try:
            with closing(_Client(server, PATIENCE)) as client:
                return _begun(_state(client, session, session_view), session_view)
        except TimeoutError:
            memory.pause_until = time.monotonic() + PAUSE
        except _FAILURES:
            pass
    return turn(session_view, session) or _starting(session, session_view)


def _state(client: "_Client", session: str, session_view: SessionView) -> Reading:
    permissions = _PERMISSIONS.decode(client.get("/permission"))
    questions = _QUESTIONS.decode(client.get("/question"))
    statuses = _STATUSES.decode(client.get("/session/status"))
    asking = {*(permission.session for permission in permissions), *(question.session for question in questions)}
    above = _roots(session, {*statuses, *asking}, session_view)
    busy = {id for id, status in statuses.items() if STATUSES.meaning(status.type) is State.WORKING}
    session = spoken_in(session_view, session, {id for id in busy if above.get(id) == id != session})
    for permission in permissions:
        if _is_of(session, permission.session, above):
            return _reading(State.WAITING, "permission", permission.permission, session)
    if any(_is_of(session, question.session, above) for question in questions):
        return _reading(State.WAITING, "question", "", session)
    return _turn([status for id, status in statuses.items() if _is_of(session, id, above)], session, session_view)


def _turn(statuses: list[_Status], session: str, session_view: SessionView) -> Reading:
    meanings = [(status, STATUSES.meaning(status.type)) for status in statuses]
    if busy := next((status for status, state in meanings if state is State.WORKING), None):
        return _reading(State.WORKING, str(busy.type), busy.message, session)
    if strange := next((status for status, state in meanings if state is State.UNKNOWN), None):
        return STATUSES.reading(strange.type, session)
    turned = turn(session_view, session)
    if turned and turned.state in (State.ERROR, State.UNKNOWN):
        return turned
    return _reading(State.IDLE, _IDLE, "", session)


def _roots(session: str, sessions: Collection[str], session_view: SessionView) -> dict[str, str]:
    """Return the topmost session above each of these; nothing when `session` is the only one, or unknown."""
    return roots(session_view, {session, *sessions}) if session and {*sessions} - {session, ""} else {}


def _is_of(session: str, other: str, above: Mapping[str, str]) -> bool:
    """Return True unless `other` is known to belong to another session of the person, which may run unseen."""
    return above.get(other, session) == session


def _begun(reading: Reading, session_view: SessionView) -> Reading:
    """Return a reading, or "starting" while an idle session has not taken its first prompt."""
    starting = _starting(reading.session, session_view) if reading.state is State.IDLE else None
    return starting or reading


def _starting(session: str, session_view: SessionView) -> Reading | None:
    """Return "starting" while the session has not taken its first prompt; until then it is in no database."""
    if session or not first_prompt.awaited(session_view):
        return None
    return _reading(State.STARTING, "the first prompt is not taken yet", "", "")


def _reading(state: State, rule: str, note: str, session: str) -> Reading:
    return Reading(state=state, source="http", rule=rule, note=shortened(note), session=session)


def deliver(session_view: SessionView, line: str) -> bool:
    """Post a line as a prompt; the server queues it during a turn."""
    body = {"parts": [{"type": "text", "text": line, "metadata": OURS}]}
    return _post(session_view, "prompt_async", msgspec.json.encode(body))


def asked(session_view: SessionView) -> tuple[AskedPermission, ...] | None:
    """Return the permissions that the session asks for now, None when the server does not say."""
    server = value(Path(session_view.folder, SERVER), _SERVER)
    try:
        if not server:
            return None
        with closing(_Client(server, HAND_OVER)) as client:
            entries = _PERMISSIONS.decode(client.get("/permission"))
            session = session_view.session
            above = _roots(session, [entry.session for entry in entries], session_view)
            return tuple(_as_asked(entry) for entry in entries if _is_of(session, entry.session, above))
    except _FAILURES:
        return None


def _as_asked(entry: "_Asked") -> AskedPermission:
    fields = {"patterns": entry.patterns, **entry.metadata}
    choices = (Choice.ALLOW, *((Choice.ALWAYS,) if entry.always else ()), Choice.DENY)
    text = msgspec.json.encode(fields).decode()
    return AskedPermission(key=entry.id, tool=entry.permission or "permission", input=text, choices=choices)


def reply(session_view: SessionView, key: str, answer: PermissionAnswer) -> bool:
    """Answer a permission that the server asks for."""
    server = value(Path(session_view.folder, SERVER), _SERVER)
    if not server or not _REQUEST.fullmatch(key):
        return False
    body = {"reply": _REPLIES[answer.choice], **({"message": answer.text} if answer.text else {})}
    try:
        with closing(_Client(server, HAND_OVER)) as client:
            return client.post(f"/permission/{key}/reply", msgspec.json.encode(body))
    except _FAILURES:
        return False


def stop(session_view: SessionView) -> bool:
    """Stop the turn; Escape would need two presses in time."""
    return _post(session_view, "abort", b"{}")


def _post(session_view: SessionView, act: str, body: bytes) -> bool:
    """Post one action to the session; return True when the server agreed."""
    server = value(Path(session_view.folder, SERVER), _SERVER)
    if not server or not _SESSION.fullmatch(session_view.session):
        return False
    try:
        with closing(_Client(server, HAND_OVER)) as client:
            return client.post(f"/session/{session_view.session}/{act}", body)
    except _FAILURES:
        return False


class _Client:
    """One connection, with one time limit for all its requests."""

    def __init__(self, server: OpenCodeServer, patience: float) -> None:
        self._connection = _Connection(server.port, time.monotonic() + patience)
        name = base64.b64encode(f"opencode:{server.password}".encode()).decode()
        self._headers = {"Authorization": f"Basic {name}", "Content-Type": "application/json"}

    def get(self, path: str) -> bytes:
        return self._ask("GET", path, None)[1]

    def post(self, path: str, body: bytes) -> bool:
        return 200 <= self._ask("POST", path, body)[0] < 300

    def close(self) -> None:
        self._connection.close()

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        self._connection.request(method, path, body, self._headers)
        response = self._connection.getresponse()
        return response.status, response.read(_LARGEST)


class _Connection(http.client.HTTPConnection):
    """A connection to a port of this machine until a deadline, by the monotonic clock."""

    def __init__(self, port: int, deadline: float) -> None:
        super().__init__("127.0.0.1", port)
        self._deadline = deadline

    def connect(self) -> None:
        self.sock = _Socket(self._deadline)
        self.sock.wait()
        self.sock.connect((self.host, self.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class _Socket(socket.socket):
    """A socket with one time limit for everything; the library's limit begins anew with each byte."""

    def __init__(self, deadline: float) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._deadline = deadline

    def wait(self) -> None:
        """Limit the next operation to the time left; raises TimeoutError after the deadline."""
        seconds_left = self._deadline - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        self.settimeout(seconds_left)

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        self.wait()
        super().sendall(data, flags)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0, /) -> int:
        self.wait()
        return super().recv_into(buffer, nbytes, flags)
