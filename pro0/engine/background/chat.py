"""The chat of a session: what it was told first, prompts, answers, tool calls, mail, reviews, and remarks."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

import msgspec

from pro0.agents import adapter_named, adapter_of, first_prompt
from pro0.agents.adapter import Adapter
from pro0.agents.chats.reader import LETTERS, ChatReader
from pro0.engine.background.agent_states import view_of
from pro0.errors import BadInput, NotFound
from pro0.model.message import MessageType
from pro0.model.runtime import SeatState, State
from pro0.model.screen import ChatEntry
from pro0.ops.context import Context
from pro0.ops.mail.listing import ListedMessage, MailFeed
from pro0.ops.tasks import tasks
from pro0.ops.work.sessions import TeamSession
from pro0.rules.tasks.answers import Remark
from pro0.rules.tasks.subtasks import is_review
from pro0.rules.words.asked import asked
from pro0.rules.words.prompts import is_fixed_line

TASKS = 5
"""The most tasks of one session whose remarks are shown, the newest ones."""
SEARCH = 2.0
"""Seconds between two searches for a transcript that is not there yet."""
KEPT = 5000
"""Items that a feed remembers."""
FIRST = "first"
"""The id of what a session was told first."""
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class ChatItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One item in the chat of a session. Its `id` never changes, and `at` is its place in time."""

    id: str
    type: Literal["first", "prompt", "said", "tool", "message", "review", "remark"]
    at: datetime
    author: str = ""
    """Who said it; "" for a prompt, which a person may have typed."""
    text: str = ""
    """What was said; the title of a tool call; of the first prompt, the part that is for this session alone."""
    to: str = ""
    """The recipient of a message."""
    state: Literal["", "running", "done", "failed"] = ""
    """How far a tool call is; an answer that is an error is `failed` too."""
    act: str = ""
    """The act that a remark came with: approve, reject, fail…; "" for a comment."""
    task_id: str = ""
    """The task that a remark is about."""
    cut: bool = False
    """True when this is only a part of the text."""


class ChatFeed:
    """The chat of one session; it remembers what it has shown."""

    def __init__(self, context: Context, session: TeamSession) -> None:
        self._context = context
        self._session = session
        self._session_of_agent = ""
        self._reader: ChatReader | None = None
        self._first = ""
        self._mail = MailFeed(context)
        self._last = session.started_at or _LONG_AGO
        self._shown: dict[str, ChatItem] = {}
        self._waiting: list[ChatItem] = []

    def news(self) -> list[ChatItem]:
        """Return the items that are new or changed since the last call, by time; at the first call, the newest ones."""
        state = _state(self._context, self._session)
        if state and (self._reader is None or state.session != self._session_of_agent):
            self._session_of_agent = state.session
            self._reader = _reader(self._context, self._session, state)
        for source in (self._of_start, self._of_transcript, self._of_mail, self._of_tasks):
            self._waiting.extend(source())  # kept when the next one cannot be read now
        fresh, self._waiting = self._waiting, []
        return sorted(fresh, key=lambda item: item.at)

    @property
    def sign(self) -> object:
        """Return a value that changes when the transcript may have more. One not found yet is searched for again."""
        sign = self._reader.sign if self._reader else ()
        return sign if sign is not None else int(time.monotonic() / SEARCH)

    def _of_start(self) -> Iterator[ChatItem]:
        """Yield what the session was told first, whether or not its agent keeps a transcript."""
        folder = self._context.team.paths.agent_folder(self._session.id)
        whole = "" if self._first else first_prompt.whole(str(folder))
        if whole:
            self._first = first_prompt.load(str(folder))
            text, at = asked(whole)[:LETTERS], self._session.started_at or first_prompt.written(str(folder))
            yield from self._new(ChatItem(id=FIRST, type="first", at=at, text=text, cut=text != whole.strip()))

    def _of_transcript(self) -> Iterator[ChatItem]:
        if self._reader is None:
            yield from self._of_screen()
            return
        for entry in self._reader.news():
            self._last = entry.at or self._last
            if entry.kind != "prompt" or not (is_fixed_line(entry.text) or self._is_first(entry.text)):
                author = "" if entry.kind == "prompt" else self._session.agent_id
                item = ChatItem(
                    id=f"t-{entry.id}"[:200],
                    type=entry.kind,
                    at=self._last,
                    author=author,
                    text=entry.text[:LETTERS],
                    state=entry.state,
                    cut=len(entry.text) > LETTERS,
                )
                yield from self._new(item)

    def _is_first(self, prompt: str) -> bool:
        """Return True for the session's first prompt, even when its agent has wrapped it or the reader has cut it."""
        first_text, prompt_text = "".join(self._first.split()), "".join(prompt.split())
        return first_text == prompt_text or (len(prompt) > LETTERS and first_text.startswith(prompt_text))

    def _of_screen(self) -> Iterator[ChatItem]:
        """Yield the last words of an agent without a transcript, as its screen or its hook gave them."""
        state = _state(self._context, self._session)
        if state and state.turn and state.turn.words:
            turn, author = state.turn, self._session.agent_id
            item = ChatItem(id=f"s-{turn.id}", type="said", at=turn.at, author=author, text=turn.words)
            yield from self._new(item)

    def _of_mail(self) -> Iterator[ChatItem]:
        for message in self._mail.news():
            if self._session.agent_id in (message.from_, message.to):
                yield from self._new(_of_message(message))

    def _of_tasks(self) -> Iterator[ChatItem]:
        session = self._session
        listed = self._context.team.tasks.read().tasks
        mine = [t.id for t in listed if session.id in (t.session, t.claim and t.claim.incarnation)]
        for id in dict.fromkeys([*mine[-TASKS:], *([session.task_id] if session.task_id else [])]):
            try:
                remarks = tasks.remarks(self._context, id)
            except NotFound:
                continue
            for remark in remarks:
                yield from self._new(_of_remark(id, remark))

    def _new(self, item: ChatItem) -> Iterator[ChatItem]:
        """Yield an item, unless it was already shown in this form."""
        if self._shown.get(item.id) != item:
            self._shown[item.id] = item
            if len(self._shown) > KEPT:
                del self._shown[next(iter(self._shown))]
            yield item


def whole_entry(context: Context, session: TeamSession, item_id: str) -> ChatEntry:
    """Return an entry of a session's transcript, or its first prompt, with its whole texts; raises NotFound."""
    if item_id == FIRST and (told := first_prompt.whole(str(context.team.paths.agent_folder(session.id)))):
        return ChatEntry(id=FIRST, kind="prompt", text=told)
    state = _state(context, session)
    reader = _reader(context, session, state, whole=True) if state else None
    for entry in reader.news() if reader else ():
        if f"t-{entry.id}"[:200] == item_id:
            return entry
    hint = "messages are read with message.show; an item too far back can no longer be read"
    raise NotFound(f"the transcript of {session.agent_id} has no item {item_id[:64]!r}", hint=hint)


def _reader(context: Context, session: TeamSession, state: SeatState, *, whole: bool = False) -> ChatReader | None:
    """Return the reader of a session's transcript, None for an agent without transcripts."""
    adapter = _adapter(context, session)
    if adapter is None or adapter.chat is None:
        return None
    return adapter.chat(view_of(context.team, adapter, state), whole=whole)


def _adapter(context: Context, session: TeamSession) -> Adapter | None:
    seats = context.team.wanted.read().seats
    seat = next((seat for seat in seats if seat.agent_id == session.agent_id and seat.agent == session.agent), None)
    try:
        return adapter_of(seat) if seat else adapter_named(session.agent)
    except BadInput:
        return None


def _state(context: Context, session: TeamSession) -> SeatState | None:
    """Return the record of a session; for a past one, as much as its usage says and transcripts need."""
    if state := context.team.runtime.read().session(session.id):
        return state
    for used in context.team.usage.read().sessions:
        if used.incarnation == session.id and used.session:
            return SeatState(
                agent_id=used.agent_id,
                generation=0,
                incarnation=used.incarnation,
                state=State.EXITED,
                since=_LONG_AGO,
                started_at=_LONG_AGO,
                session=used.session,
            )
    return None


def _of_message(message: ListedMessage) -> ChatItem:
    return ChatItem(
        id=f"m-{message.id}",
        type="review" if message.type is MessageType.NOTIFICATION and is_review(message.id) else "message",
        at=message.timestamp,
        author=message.from_,
        to=message.to,
        text=message.content,
        cut=message.cut,
    )


def _of_remark(task_id: str, remark: Remark) -> ChatItem:
    return ChatItem(
        id=f"r-{remark.id or f'{task_id}-{remark.at.timestamp()}-{remark.act}'}",
        type="remark",
        at=remark.at,
        author=remark.author,
        text=remark.text[:LETTERS],
        act=remark.act or "",
        task_id=task_id,
        cut=len(remark.text) > LETTERS,
    )
