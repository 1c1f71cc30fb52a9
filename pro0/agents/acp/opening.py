"""The opening of a session in ACP: a new one, or an earlier one to resume."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from pro0.agents.acp import messages
from pro0.agents.acp.messages import AcpFailure, AcpMessage, Initialized, Opened
from pro0.agents.acp.news import Drawn
from pro0.agents.transcripts import shortened
from pro0.decoding import decode
from pro0.errors import EnvironmentMissing

Answer = TypeVar("Answer")
Ask = Callable[[str, Mapping[str, object], Callable[[AcpMessage], None]], int]


class AcpSetting(msgspec.Struct, kw_only=True):
    """What a session is opened with."""

    cwd: str
    servers: list[dict[str, object]]
    version: str
    session: str = ""
    """The id of the session to resume, empty for a new one."""
    first: str = ""
    """The first prompt of a new session."""
    lost: str = ""
    """The first prompt of the new session when the earlier one cannot be resumed."""
    who: str = ""
    """What the agent is told after it has compacted its conversation."""


class AcpOpening:
    """Opens one session; raises EnvironmentMissing when the agent does not open it."""

    def __init__(
        self, setting: AcpSetting, ask: Ask, show: Callable[[Drawn], None], done: Callable[[str], None]
    ) -> None:
        self._setting = setting
        self._ask = ask
        self._show = show
        self._done = done
        self.session = ""
        """The id of the open or loading session; empty for none."""
        self.is_open = False
        self.goes_on = False
        """True when the agent can resume sessions."""
        self.went_on = False
        """True when an earlier session was resumed."""

    def begin(self) -> None:
        """Send the first request."""
        about = {"name": "pro0", "title": "pro0", "version": self._setting.version}
        params = {
            "protocolVersion": messages.VERSION,
            "clientCapabilities": messages.OUR_CAPABILITIES,
            "clientInfo": about,
        }
        self._ask("initialize", params, self._initialized)

    def _initialized(self, message: AcpMessage) -> None:
        agent = result_of(message, Initialized)
        if isinstance(agent, AcpFailure):
            raise EnvironmentMissing(f"the agent cannot be initialized: {agent.why}")
        if agent.protocol_version != messages.VERSION:
            raise EnvironmentMissing(f"the agent speaks version {agent.protocol_version} of ACP, pro0 speaks 1")
        loads = agent.agent_capabilities.load_session
        self.goes_on = loads or agent.agent_capabilities.session_capabilities.resume is not None
        if agent.agent_info:
            self._show(Drawn("note", f"{agent.agent_info.title or agent.agent_info.name} {agent.agent_info.version}"))
        if self._setting.session and self.goes_on:
            self.session = self._setting.session
            method = "session/load" if loads else "session/resume"
            self._ask(method, {"sessionId": self.session, **self._place()}, self._loaded)
        else:
            self._open_new(self._setting.lost if self._setting.session else self._setting.first)

    def _place(self) -> dict[str, object]:
        return {"cwd": self._setting.cwd, "mcpServers": self._setting.servers}

    def _open_new(self, first: str) -> None:
        self._ask("session/new", self._place(), lambda message: self._made(message, first))

    def _made(self, message: AcpMessage, first: str) -> None:
        session = result_of(message, Opened)
        if isinstance(session, AcpFailure):
            if session.code == messages.AUTH_REQUIRED:
                raise EnvironmentMissing(f"the agent wants you to log in first: {session.why}")
            raise EnvironmentMissing(f"the agent cannot open a session: {session.why}")
        self.session, self.is_open = session.session_id, True
        self._done(first)

    def _loaded(self, message: AcpMessage) -> None:
        failed = result_of(message, dict)
        if isinstance(failed, AcpFailure):
            self._show(Drawn("note", f"the earlier conversation cannot be loaded: {shortened(failed.why)}"))
            self.session = ""
            self._open_new(self._setting.lost)
            return
        self.is_open = self.went_on = True
        self._show(Drawn("note", "resumed the earlier conversation"))
        self._done("")


def result_of(message: AcpMessage, type: type[Answer]) -> Answer | AcpFailure:
    """Return the result of an answer, or its failure; raises ValueError or MsgspecError for neither."""
    if isinstance(message.error, AcpFailure):
        return message.error
    if isinstance(message.result, msgspec.UnsetType):
        raise ValueError("it holds neither a result nor an error")
    raw = bytes(message.result)
    return decode(raw if raw != b"null" else b"{}", type)
