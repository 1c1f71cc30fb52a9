"""The app server of one Codex: its terminal program is a client of it, and the lead is another.

Each act and each look opens a new connection, so none has to be kept. Measured with 0.169.0.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0.agents.adapter import SessionView
from pro0.agents.codex import rollout, starter
from pro0.agents.codex.client import CHANGE, COMMAND, ApprovalRequest, ServerClient, ServerMessage, ServerRefused
from pro0.agents.codex.websocket import connect
from pro0.agents.memory import Memory
from pro0.agents.transcripts import changed, value
from pro0.decoding import decoder
from pro0.model.need import AskedPermission, Choice, PermissionAnswer
from pro0.model.runtime import State
from pro0.model.screen import Reading
from pro0.rules.screens.words import Words

SOCKET = starter.SOCKET
PATIENCE = 10.0
"""The time limit of one act, in seconds."""
LOOK = 0.3
"""The time limit of one look, in seconds."""
PAUSE = 1.0
"""Seconds for which the server's answer counts, unless the rollout changes meanwhile."""
FLAGS = Words(
    source="server",
    place="active flag",
    states={"": None, "waitingOnApproval": State.WAITING, "waitingOnUserInput": State.WAITING},
)
_FAILURES = (OSError, msgspec.MsgspecError, ValueError, RecursionError)
_FOR_SESSION = "acceptForSession"


class CodexServer(msgspec.Struct, omit_defaults=True):
    """The socket, the commands of server and client, and a command to run before the client; a file in the session."""

    socket: str
    argv: tuple[str, ...]
    client: tuple[str, ...]
    before: tuple[str, ...] = ()


_SERVER = decoder(CodexServer)
_WHOLE = 1 << 20
"""The most bytes of its file: it holds the first prompt, and JSON can make this six times as long."""


def address(folder: str) -> str:
    """Return where the server of a session listens, in codex's words."""
    return f"unix://{folder}/{SOCKET}"


def settings(
    folder: str, words: tuple[str, ...], client: tuple[str, ...], before: tuple[str, ...] = ()
) -> dict[str, bytes]:
    """Return the file for the starter: a server with these settings, and the terminal program as its client."""
    argv = ("codex", "app-server", "--listen", address(folder), *words)
    server = CodexServer(socket=f"{folder}/{SOCKET}", argv=argv, client=client, before=before)
    return {starter.FILE: msgspec.json.encode(server)}


def resuming(folder: str, session: str, sandbox: str, policy: str) -> tuple[str, ...]:
    """Return the command that resumes a session; without it the server keeps the earlier permissions."""
    return (sys.executable, "-I", "-m", __name__, f"{folder}/{SOCKET}", session, sandbox, policy)


def resume(path: str, session: str, sandbox: str, policy: str) -> None:
    """Let the server at a path resume a session; raises OSError or a MsgspecError unless it takes these permissions."""
    connection = connect(path, PATIENCE)
    try:
        ServerClient(connection).resume(session, sandbox, policy)
    finally:
        connection.close()


def look(session_view: SessionView, memory: Memory) -> Reading | None:
    """Read the state from the rollout, and from the server the reason why a running turn waits.

    An agent that waits writes nothing into its rollout, so the server is asked only while the rollout does not change.
    """
    with ExitStack() as stack:
        client = cache(lambda: stack.enter_context(_connected(session_view, LOOK)))
        looked = _follow(session_view, memory, client)
        reading = rollout.look(session_view, memory)
        if reading is None or reading.state is not State.WORKING:
            return reading
        path = rollout.rollout(session_view, memory)
        key = changed(path) if path else 0.0
        if looked or memory.asked_at[0] != key:
            memory.asked_at = key, _flag(client, reading.session)
    flag = memory.asked_at[1]
    state = FLAGS.meaning(flag)
    if state is State.UNKNOWN:
        return FLAGS.reading(flag, reading.session)
    return replace(reading, state=state, source=FLAGS.source, rule=flag) if state else reading


def _follow(session_view: SessionView, memory: Memory, client: Callable[[], ServerClient]) -> bool:
    """Note the agent's present conversation: `/new`, `/clear` and `/fork` begin another one in its process.

    A person may also open another member's conversation here. So only a conversation seen here before its first turn,
    or at work, counts; and only one with a rollout, since others cannot be resumed. Return True when it was time to
    look.
    """
    if time.monotonic() < memory.follow_at:
        return False
    memory.follow_at = time.monotonic() + PAUSE
    present = memory.conversation or session_view.session
    with suppress(*_FAILURES):
        if [id for id in client().loaded() if id not in memory.others] != [present]:
            threads = client().conversations(memory.others)
            memory.own |= {present, *(thread.id for thread in threads if thread.works or not thread.preview)}
            own = [thread.id for thread in threads if thread.id in memory.own]
            begun = [id for id in own if rollout.began(replace(session_view, session=id))]
            memory.conversation = begun[-1] if begun else present
    return True


def _flag(client: Callable[[], ServerClient], session: str) -> str:
    """Return the server's word for the cause of a waiting turn; empty when it does not wait, or the server fails."""
    try:
        flags = client().status(session).active_flags
    except _FAILURES:
        return ""
    return flags[0] if flags else ""


def deliver(session_view: SessionView, line: str) -> bool:
    """Begin a turn with a line; False during a turn, since the server would drop the answer in progress.

    False also with several conversations: the server does not say which one the person sees, and keys go to that one.
    """
    try:
        with _connected(session_view) as client:
            conversations = client.conversations()
            if len(conversations) != 1 or conversations[0].works:
                return False
            client.say(conversations[0].id, line)
            return True
    except _FAILURES:
        return False


def asked(session_view: SessionView) -> tuple[AskedPermission, ...] | None:
    """Return the permissions that the server asks for now, None when it does not say."""
    try:
        with _connected(session_view) as client:
            thread = client.thread()
            permissions = [_shown(client, thread, message, request) for message, request in client.requests(thread)]
            return tuple(entry for entry in permissions if entry)
    except _FAILURES:
        return None


def reply(session_view: SessionView, key: str, answer: PermissionAnswer) -> bool:
    """Answer a permission that the server asks for; the words of a refusal follow as a separate text."""
    try:
        with _connected(session_view) as client:
            thread = client.thread()
            matching = [(message, request) for message, request in client.requests(thread) if _key(request) == key]
            if not matching:
                return False
            message, request = matching[0]
            client.answer(message, _decision(request, answer))
            if answer.choice is Choice.DENY and answer.text:
                with suppress(*_FAILURES):  # the answer counts even without its words
                    client.say(thread, answer.text)
            return True
    except _FAILURES:
        return False


@contextmanager
def _connected(session_view: SessionView, patience: float = PATIENCE) -> Iterator[ServerClient]:
    server = value(Path(session_view.folder, starter.FILE), _SERVER, _WHOLE)
    if server is None:
        raise ServerRefused("it has no server")
    connection = connect(server.socket, patience)
    try:
        yield ServerClient(connection)
    finally:
        connection.close()


def _shown(
    client: ServerClient, thread: str, message: ServerMessage, request: ApprovalRequest
) -> AskedPermission | None:
    """Return a request as shown to the person, None for one shown completely only in the pane."""
    always = request.available_decisions is None or _FOR_SESSION in request.available_decisions
    choices = (Choice.ALLOW, *((Choice.ALWAYS,) if always else ()), Choice.DENY)
    if message.method == COMMAND and request.command:
        fields = {"command": request.command, "cwd": request.cwd, "reason": request.reason}
        text = msgspec.json.encode(fields).decode()
        return AskedPermission(key=_key(request), tool="command", input=text, choices=choices)
    if message.method == CHANGE and (changes := client.changes(thread, request.item_id)):
        return AskedPermission(key=_key(request), tool="file change", input=changes.decode(), choices=choices)
    return None


def _key(request: ApprovalRequest) -> str:
    return ":".join(part for part in (request.turn_id, request.item_id, request.approval_id) if part)


def _decision(request: ApprovalRequest, answer: PermissionAnswer) -> str:
    if answer.choice is not Choice.DENY:
        return _FOR_SESSION if answer.choice is Choice.ALWAYS else "accept"
    return "decline" if request.available_decisions is None or "decline" in request.available_decisions else "cancel"


if __name__ == "__main__":
    resume(*sys.argv[1:])
