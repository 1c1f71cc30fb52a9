"""The messages of the Agent Client Protocol, version 1, as far as a client of ours needs them.

Source: the protocol's own schema, `schema/v1/schema.json` of `@agentclientprotocol/sdk` 2.4.0.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from pro0.agents.transcripts import decode_line
from pro0.decoding import decoder

VERSION = 1
"""The version of the protocol that we speak."""
OUR_CAPABILITIES = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "session": {"compaction": {}, "notices": {}},
}
"""We offer neither files nor terminals: an agent uses its own tools, and asks before it does."""
AUTH_REQUIRED = -32000
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
STOPS: dict[str, str] = {
    "end_turn": "",
    "cancelled": "",
    "max_tokens": "its model ran out of tokens",
    "max_turn_requests": "it reached the limit of model requests in one turn",
    "refusal": "its model refused to go on",
}
"""Why a turn ended, each with the error that it means, empty for none."""
UPDATES = frozenset(
    {
        *("user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"),
        *("available_commands_update", "current_mode_update", "config_option_update", "session_info_update"),
        *("usage_update", "notice", "compaction_update", "compaction_summary_chunk"),
        *("plan_update", "plan_removed", "subagent_update", "session_message", "session_message_chunk"),
    }
)
"""The kinds of news of a session. Those of the last line are from the unstable part; they do not affect the state."""

Id = int | str


class AcpFailure(msgspec.Struct):
    """Why a request failed."""

    code: int = 0
    message: str = ""
    data: object = None

    @property
    def why(self) -> str:
        """Return all that the agent says of it."""
        details = (
            self.data if isinstance(self.data, str) else msgspec.json.encode(self.data).decode() if self.data else ""
        )
        return f"{self.message or f'error {self.code}'}{f': {details}' if details else ''}"


class AcpMessage(msgspec.Struct):
    """One message of the agent: a request, a notification or a response."""

    jsonrpc: Literal["2.0"]
    id: Id | UnsetType | None = UNSET
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw | UnsetType = UNSET
    error: AcpFailure | UnsetType = UNSET


class Info(msgspec.Struct):
    """The name and version of a program."""

    name: str = ""
    title: str | None = None
    version: str = ""


class SessionCapabilities(msgspec.Struct):
    """What an agent can do with sessions, beside making them."""

    resume: dict[str, object] | None = None


class Capabilities(msgspec.Struct, rename="camel"):
    """What an agent offers."""

    load_session: bool = False
    session_capabilities: SessionCapabilities = msgspec.field(default_factory=SessionCapabilities)


class AuthMethod(msgspec.Struct):
    """A way to log in."""

    name: str = ""


class Initialized(msgspec.Struct, rename="camel"):
    """The agent's answer to `initialize`."""

    protocol_version: int
    agent_capabilities: Capabilities = msgspec.field(default_factory=Capabilities)
    agent_info: Info | None = None
    auth_methods: list[AuthMethod] = []


class Opened(msgspec.Struct, rename="camel"):
    """The agent's answer to `session/new`."""

    session_id: str


class Stopped(msgspec.Struct, rename="camel"):
    """The agent's answer to `session/prompt`: the end of a turn."""

    stop_reason: str


class Content(msgspec.Struct):
    """One piece of content; one without text is shown by its kind and address."""

    type: str = ""
    text: str = ""
    uri: str | None = None


class PlanStep(msgspec.Struct):
    """One step of an agent's plan."""

    content: str = ""
    status: str = ""


class SessionCost(msgspec.Struct):
    """What a session has cost so far."""

    amount: float = 0
    currency: str = ""


class Update(msgspec.Struct, rename="camel"):
    """One piece of news of a session, as far as it is shown."""

    session_update: str
    content: msgspec.Raw = msgspec.Raw(b"{}")
    entries: list[PlanStep] = []
    severity: str = ""
    title: str | None = None
    status: str | None = None
    cost: SessionCost | None = None


class SessionNews(msgspec.Struct, rename="camel"):
    """The parameters of `session/update`."""

    session_id: str
    update: msgspec.Raw


class Option(msgspec.Struct, rename="camel"):
    """One answer that an agent offers."""

    option_id: str
    name: str
    kind: str


class AskedLeave(msgspec.Struct, rename="camel"):
    """The parameters of `session/request_permission`."""

    session_id: str
    tool_call: dict[str, object]
    options: list[Option]


class Cancelled(msgspec.Struct, rename="camel"):
    """The parameters of `$/cancel_request`."""

    request_id: Id


_MESSAGE = decoder(AcpMessage)


def read(line: bytes) -> AcpMessage:
    """Return the message in a line; raises MsgspecError, ValueError or RecursionError for any other line."""
    return decode_line(line, _MESSAGE)


def request(id: int, method: str, params: dict[str, object]) -> bytes:
    """Return a request as one line."""
    return _line({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def notification(method: str, params: dict[str, object]) -> bytes:
    """Return a notification as one line."""
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def result(id: Id, value: dict[str, object]) -> bytes:
    """Return the answer to a request as one line."""
    return _line({"jsonrpc": "2.0", "id": id, "result": value})


def failure(id: Id, code: int, why: str) -> bytes:
    """Return the refusal of a request as one line."""
    return _line({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})


def text(words: str) -> dict[str, object]:
    """Return a piece of content that is text."""
    return {"type": "text", "text": words}


def _line(message: dict[str, object]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
