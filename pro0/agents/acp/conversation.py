"""One session with an agent that speaks ACP, as a value: messages go in, messages and lines to draw come out.

Nothing here touches a process or a terminal. The state comes from the protocol alone: a turn lasts from our
`session/prompt` until its answer. A message outside the protocol makes the state unknown, until a turn begins or
ends.
"""

from collections.abc import Callable, Mapping

import msgspec

from pro0.agents.acp import messages
from pro0.agents.acp.leave import OPEN, Leave, Leaves
from pro0.agents.acp.messages import AcpFailure, AcpMessage, Id, Stopped
from pro0.agents.acp.news import Drawn, ToldNews, news_of
from pro0.agents.acp.opening import AcpOpening, AcpSetting, result_of
from pro0.agents.acp.waiting import Sender, WaitingPrompts
from pro0.agents.bridge.reports import BridgeReport, Settled
from pro0.agents.transcripts import WORDS, shortened
from pro0.decoding import decode
from pro0.model.need import Choice
from pro0.wire import LINE_LIMIT


class AcpConversation:
    """Speaks with one agent: `send` sends it a message, `show` draws a line, `unread` tells if it has unread mail."""

    def __init__(
        self,
        setting: AcpSetting,
        send: Callable[[bytes], None],
        show: Callable[[Drawn], None],
        unread: Callable[[], bool] = lambda: True,
    ) -> None:
        self._who = setting.who
        self._opening = AcpOpening(setting, self._request, show, self._opened)
        self._send = send
        self._show = show
        self._waiting = WaitingPrompts(unread)
        self._asked: dict[int, Callable[[AcpMessage], None]] = {}
        self._number = 0
        self._turn: int | None = None
        self._strange = ""
        self._error = ""
        self._told: list[str] = []
        """The agent's words in this turn."""
        self._turns = 0
        self.leaves = Leaves()
        self.last_words = ""
        """The agent's words of the last turn that is over."""
        self.turns_over = 0
        self.cost = 0.0
        """US dollars that the session has cost since it was opened here, as its agent says."""
        self._before = 0.0
        """US dollars that the session had cost before, as the agent said while it loaded the session."""

    def begin(self) -> None:
        """Send the first request."""
        self._opening.begin()

    @property
    def turning(self) -> bool:
        """Return True while a turn runs."""
        return self._turn is not None

    @property
    def opened(self) -> bool:
        """Return True once there is a session."""
        return self._opening.is_open

    def report(self) -> BridgeReport:
        """Return the report for the lead."""
        *earlier, newest = self.leaves.settled or [Settled()]
        report = BridgeReport(
            session=self._session if self._opening.goes_on else "",
            turns=self._turns,
            error=self._error,
            asks=[leave.asked() for leave in self.leaves.open],
            settled=newest,
            settled_before=earlier,
        )
        if self.leaves.open:
            report.state, report.note = "waiting", shortened(self.leaves.open[0].title)
        elif self._strange:
            report.state = self._strange
        elif not self.opened:
            report.state = "starting"
        else:
            report.state = "working" if self.turning else "idle"
        return report

    def prompt(self, sender: Sender, text: str) -> None:
        """Begin a turn with a prompt, now or after the present turn."""
        if dropped := self._waiting.add(sender, text):
            self._show(Drawn("note", f"too many prompts wait; this one was dropped: {shortened(dropped)}"))
        if self.turning:
            self._show(Drawn("note", "the agent gets this when its turn ends"))
        self._next_turn()

    def answer(self, key: str, choice: Choice, said: str = "", *, elsewhere: bool = True) -> bool:
        """Answer a request by a choice; return False when the request is closed, or does not offer the choice."""
        leave = self.leaves.of(key=key)
        if leave is None:
            self.leaves.settle(Settled(key=key))
            return False
        option = leave.option(choice)
        if option is None and choice is not Choice.DENY:
            return False
        self._close(leave, option.option_id if option else None, elsewhere=elsewhere)
        words = option.name if option else "no"
        self._show(Drawn("note", f"answered{' elsewhere' if elsewhere else ''}: {words}"))
        if option is None:
            self.cancel()  # the agent offers no refusal, so the turn has to end
        if said:
            self.prompt("person", said)
        return True

    def choose(self, key: str, number: int) -> bool:
        """Answer a request by the number of one of the agent's own options, counted from 1."""
        leave = self.leaves.of(key=key)
        if leave is None or not 1 <= number <= len(leave.options):
            return False
        option = leave.options[number - 1]
        self._close(leave, option.option_id, elsewhere=False)
        self._show(Drawn("note", f"answered: {option.name}"))
        return True

    def cancel(self) -> None:
        """Stop the turn, and withdraw all its open requests."""
        if not self.turning:
            return
        self._send(messages.notification("session/cancel", {"sessionId": self._session}))
        for leave in [*self.leaves.open]:
            self._close(leave, None, elsewhere=False)
        self._show(Drawn("note", "told to stop"))

    def hear(self, line: bytes | None) -> None:
        """Take in one line of the agent, None for a line too long to be read."""
        try:
            message = messages.read(line or b"")
        except (msgspec.MsgspecError, ValueError, RecursionError):
            if line is None:
                self._is_strange(
                    "a message", f"longer than the {LINE_LIMIT >> 20} MiB that pro0 reads; Esc stops the turn"
                )
            elif line.strip():
                self._is_strange("no message", line.decode(errors="replace"))
            return
        try:
            self._take(message)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            self._is_strange(message.method or "answer", str(error))
            if message.method and not isinstance(message.id, msgspec.UnsetType | None):
                self._send(messages.failure(message.id, messages.INVALID_PARAMS, "these parameters cannot be read"))

    def _take(self, message: AcpMessage) -> None:
        if not message.method:
            self._answered(message)
        elif isinstance(message.id, msgspec.UnsetType):
            self._notified(message)
        elif message.id is None or self.leaves.of(id=message.id):
            self._is_strange(message.method, "an invalid id")
        else:
            self._requested(message, message.id)

    def _answered(self, message: AcpMessage) -> None:
        then = self._asked.pop(message.id, None) if isinstance(message.id, int) else None
        if then is None:
            self._is_strange("answer", f"to {message.id}, which was not asked")
        else:
            then(message)

    def _notified(self, message: AcpMessage) -> None:
        if message.method == "session/update":
            news = decode(message.params, messages.SessionNews)
            if news.session_id == self._session:
                self._news(news.update)
            elif self.opened:
                self._is_strange(message.method, f"about another session, {news.session_id}")
        elif message.method == "$/cancel_request":
            withdrawn = decode(message.params, messages.Cancelled)
            if leave := self.leaves.of(id=withdrawn.request_id):
                self._close(leave, None, elsewhere=False)
        elif not message.method.startswith(("_", "$/")):  # an extension does not affect the state
            self._is_strange(message.method, "a notification that is not known")

    def _requested(self, message: AcpMessage, id: Id) -> None:
        if message.method != "session/request_permission":
            self._send(messages.failure(id, messages.METHOD_NOT_FOUND, f"pro0 does not offer {message.method}"))
            if not message.method.startswith(("_", "fs/", "terminal/", "elicitation/")):
                self._is_strange(message.method, "a request that is not known")
            return
        request = decode(message.params, messages.AskedLeave)
        if request.session_id != self._session or not isinstance(request.tool_call.get("toolCallId"), str):
            raise ValueError("about another session")
        if len(self.leaves.open) >= OPEN or not request.options:
            self._send(messages.failure(id, messages.INVALID_PARAMS, "too many open requests, or no options"))
            return
        self._draw(self.leaves.ask(id, request.tool_call, request.options))

    def _news(self, update: msgspec.Raw) -> None:
        news = news_of(update)
        if news.kind not in messages.UPDATES:
            self._is_strange(news.kind, "an update that is not known")
        for leave in self.leaves.tell(news.call) if news.call else ():
            self._show(Drawn("note", "its request has changed"))
            self._draw(leave)
        self._remember(news)
        for shown in news.shown:
            self._show(shown)

    def _remember(self, news: ToldNews) -> None:
        if news.kind == "agent_message_chunk" and self.turning:
            self._told.append(news.words)
            if len(self._told) > WORDS:
                self._told = ["".join(self._told)[-2 * WORDS :]]
        if news.compacted and self._who and self.opened:
            self.prompt("mail", self._who)
        if news.cost > 0 and not self.opened:
            self._before = news.cost
        elif news.cost > 0:
            if news.cost < self._before:  # the agent has begun to count from 0 again
                self._before = 0.0
            self.cost = max(self.cost, news.cost - self._before)

    def _draw(self, leave: Leave) -> None:
        self._show(Drawn("ask", leave.title, leave))

    def _close(self, leave: Leave, option: str | None, *, elsewhere: bool) -> None:
        outcome = {"outcome": "selected", "optionId": option} if option is not None else {"outcome": "cancelled"}
        self._send(messages.result(leave.id, {"outcome": outcome}))
        self.leaves.close(leave, elsewhere=elsewhere)

    def _is_strange(self, what: str, why: str) -> None:
        self._strange = f"unknown {' '.join(what.split())[:40]}"
        self._show(Drawn("note", f"not understood: {what}: {shortened(why)}"))

    def _request(self, method: str, params: Mapping[str, object], then: Callable[[AcpMessage], None]) -> int:
        self._number += 1
        self._asked[self._number] = then
        self._send(messages.request(self._number, method, dict(params)))
        return self._number

    @property
    def _session(self) -> str:
        return self._opening.session

    def _opened(self, first: str) -> None:
        self._turns, self._strange = int(self._opening.went_on), ""
        if not self._opening.went_on:
            self._before = 0.0
        if first:
            self._waiting.add_first(first)
        self._next_turn()

    def _next_turn(self) -> None:
        if not self.opened or self.turning:
            return
        while self._waiting.drop_late():
            self._show(Drawn("note", "its mail has been read in the meantime"))
        if (next_prompt := self._waiting.take()) is None:
            return
        sender, text = next_prompt
        self._show(Drawn("person" if sender == "person" else "mail", text))
        params = {"sessionId": self._session, "prompt": [messages.text(text)]}
        self._error, self._strange, self._told = "", "", []
        self._turns += 1
        self._turn = self._request("session/prompt", params, self._stopped)

    def _stopped(self, message: AcpMessage) -> None:
        self._turn, self._strange, self.last_words = None, "", "".join(self._told)
        self.turns_over += 1
        for leave in [*self.leaves.open]:  # its turn is over, so nothing waits for the answer
            self._close(leave, None, elsewhere=False)
        try:
            self._note_why(result_of(message, Stopped))
        finally:
            self._next_turn()

    def _note_why(self, stopped: Stopped | AcpFailure) -> None:
        """Note how a turn ended."""
        if isinstance(stopped, AcpFailure):
            self._error = stopped.why
        elif stopped.stop_reason not in messages.STOPS:
            self._is_strange(f"stop {stopped.stop_reason}", "a reason that is not known")
        else:
            self._error = messages.STOPS[stopped.stop_reason]
        if self._error:
            self._show(Drawn("note", f"error: {shortened(self._error)}"))
