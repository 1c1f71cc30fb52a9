"""A client of Codex's app server: JSON-RPC without its version field, one WebSocket message for each."""

from typing import TypeVar

import msgspec

from pro0.agents.codex.rollout import creation_time
from pro0.agents.codex.websocket import WebSocket
from pro0.decoding import decode, decoder

Result = TypeVar("Result")
COMMAND, CHANGE = "item/commandExecution/requestApproval", "item/fileChange/requestApproval"
"""The server's requests for permission: to run a command, and to change files."""
_SANDBOXES = {
    "readOnly": "read-only",
    "workspaceWrite": "workspace-write",
    "dangerFullAccess": "danger-full-access",
}
"""The server's word for a sandbox → that of the settings."""
_RESOLVED = "serverRequest/resolved"
_ITEMS = 50
"""The newest items searched for the change that is asked about."""


class ServerMessage(msgspec.Struct):
    """A message of the server: a response, a request or a notification."""

    id: int | str | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw | None = None


class ApprovalRequest(msgspec.Struct, rename="camel"):
    """What the server asks of its clients."""

    turn_id: str = ""
    item_id: str = ""
    approval_id: str | None = None
    command: str | None = None
    cwd: str | None = None
    reason: str | None = None
    available_decisions: list[object] | None = None


class ThreadStatus(msgspec.Struct, rename="camel"):
    """The state of a thread."""

    type: str = ""
    active_flags: list[str] = []


class Thread(msgspec.Struct, rename="camel"):
    """A loaded thread; `recency_at` is the start of its newest turn in seconds, or now while it has no rollout."""

    id: str = ""
    ephemeral: bool = False
    parent_thread_id: str | None = None
    thread_source: str | None = None
    source: object = ""
    preview: str = ""
    recency_at: float | None = None
    status: ThreadStatus = msgspec.field(default_factory=ThreadStatus)

    @property
    def is_conversation(self) -> bool:
        """Return True for a person's conversation: no subagent's thread, none made for a title or beside another."""
        is_ones_own = self.parent_thread_id is None and isinstance(self.source, str)
        return is_ones_own and not self.ephemeral and self.thread_source in (None, "user")

    @property
    def works(self) -> bool:
        """Return True during a turn, also while the turn waits for somebody."""
        return self.status.type == "active"

    @property
    def order(self) -> tuple[bool, float]:
        """Return a sort key for conversations: by their last use, a working one last."""
        created = creation_time(self.id)
        turned_at = (self.recency_at or 0.0) if self.preview else 0.0
        return self.works, max(turned_at, created.timestamp() if created else 0.0)


class _Read(msgspec.Struct):
    thread: Thread


class _Loaded(msgspec.Struct):
    data: list[str] = []


class _Item(msgspec.Struct):
    id: str = ""
    changes: msgspec.Raw = msgspec.Raw(b"null")


class _Entry(msgspec.Struct):
    item: _Item = msgspec.field(default_factory=_Item)


class _Entries(msgspec.Struct):
    data: list[_Entry] = []


class _Sandbox(msgspec.Struct):
    type: str = ""


class _Permitted(msgspec.Struct, rename="camel"):
    sandbox: _Sandbox = msgspec.field(default_factory=_Sandbox)
    approval_policy: object = ""


class _Over(msgspec.Struct, rename="camel"):
    request_id: int | str | None = None


_MESSAGE = decoder(ServerMessage)


class ServerRefused(OSError):
    """The server answered with an error, or has no such thing."""


class ServerClient:
    """A client on one connection; whatever goes wrong is an OSError or a MsgspecError."""

    def __init__(self, connection: WebSocket) -> None:
        self._connection = connection
        self._calls = 0
        self._asked: list[ServerMessage] = []
        self._resolved: list[int | str | None] = []
        self._call("initialize", dict[str, object], clientInfo={"name": "pro0", "version": "1"})
        self._send({"method": "initialized"})

    def loaded(self) -> list[str]:
        """Return the ids of all loaded threads; a thread without a viewer stays loaded for 30 minutes."""
        return self._call("thread/loaded/list", _Loaded).data

    def conversations(self, others: set[str] | None = None) -> list[Thread]:
        """Return the conversations in the order of their last use; the person sees one of them.

        `others` collects the ids of all other threads, so that each of those is read only once.
        """
        threads, none = [], set[str]() if others is None else others
        for id in self.loaded():
            if id not in none:
                thread = self._call("thread/read", _Read, threadId=id).thread
                if thread.is_conversation:
                    threads.append(thread)
                else:
                    none.add(id)
        return sorted(threads, key=lambda thread: thread.order)

    def thread(self) -> str:
        """Return the conversation used last; raises ServerRefused when there is none."""
        if threads := self.conversations():
            return threads[-1].id
        raise ServerRefused("it has no thread")

    def status(self, thread: str) -> ThreadStatus:
        """Return the state of a thread."""
        return self._call("thread/read", _Read, threadId=thread).thread.status

    def say(self, thread: str, text: str) -> None:
        """Begin a turn with a text, or add it to the running turn."""
        self._call("turn/start", dict[str, object], threadId=thread, input=[{"type": "text", "text": text}])

    def resume(self, thread: str, sandbox: str, policy: str) -> None:
        """Resume a thread with a sandbox and an approval policy; raises ServerRefused when the server uses others."""
        params = {"threadId": thread, "sandbox": sandbox, "approvalPolicy": policy, "excludeTurns": True}
        now = self._call("thread/resume", _Permitted, **params)
        if (_SANDBOXES.get(now.sandbox.type), now.approval_policy) != (sandbox, policy):
            raise ServerRefused(f"it permits {now.sandbox.type} and asks {now.approval_policy}")

    def requests(self, thread: str) -> list[tuple[ServerMessage, ApprovalRequest]]:
        """Return the server's open requests. It repeats them to each client that resumes the thread."""
        if "waitingOnApproval" not in self.status(thread).active_flags:
            return []
        self._call("thread/resume", dict[str, object], threadId=thread, excludeTurns=True)
        while not self._asked:
            self._hear()
        return [(message, decode(message.params, ApprovalRequest)) for message in self._asked]

    def changes(self, thread: str, item: str) -> bytes:
        """Return the changes of files that an item is about, as JSON; empty when they are not known."""
        entries = self._call("thread/items/list", _Entries, threadId=thread, limit=_ITEMS, sortDirection="desc")
        return next((bytes(entry.item.changes) for entry in entries.data if entry.item.id == item), b"")

    def answer(self, request: ServerMessage, decision: str) -> None:
        """Answer a request and wait until the server says that it is over."""
        self._send({"id": request.id, "result": {"decision": decision}})
        while request.id not in self._resolved:
            self._hear()

    def _call(self, method: str, result: type[Result], **params: object) -> Result:
        self._calls += 1
        self._send({"id": self._calls, "method": method, "params": params})
        while True:
            message = self._hear()
            if message.id == self._calls and not message.method:
                if message.error is not None:
                    raise ServerRefused(bytes(message.error).decode("utf-8", "replace"))
                return decode(message.result, result)

    def _hear(self) -> ServerMessage:
        """Return the next message; note a request that it makes, or one that it ends."""
        message = _MESSAGE.decode(self._connection.receive())
        if message.method in (COMMAND, CHANGE) and message.id is not None:
            self._asked.append(message)
        elif message.method == _RESOLVED:
            self._resolved.append(decode(message.params, _Over).request_id)
        return message

    def _send(self, message: object) -> None:
        self._connection.send(msgspec.json.encode(message))
