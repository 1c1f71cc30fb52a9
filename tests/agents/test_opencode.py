"""opencode: its server and its database."""

import base64
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from pro0.agents.adapter import Memory, SessionView
from pro0.agents.opencode import database
from pro0.agents.opencode import server as server_of_opencode
from pro0.agents.opencode.adapter import OPENCODE
from pro0.agents.opencode.server import PATIENCE, OpenCodeServer
from pro0.model.runtime import State
from pro0.model.usage import Usage
from tests.agents import placed
from tests.agents.placed import recording
from tests.waiting import STUCK

S = State
BUSY = {placed.OPENCODE: {"type": "busy"}}
RETRY = {placed.OPENCODE: {"type": "retry", "attempt": 2, "message": "slow\ndown", "next": 1}}
DROPS = 600
ASKED = [{"id": "per_1", "sessionID": placed.OPENCODE, "permission": "bash", "patterns": ["rm x"]}]


class Answers(ThreadingHTTPServer):
    """A server that gives out what a test puts in, as opencode's does, and keeps what it was posted."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status: object = {}
        self.permission: object = []
        self.question: object = []
        self.raw: bytes | None = None
        self.posted: list[tuple[str, object]] = []
        self.drips = ""
        """The part of an answer, head or body, that comes byte by byte, for half a minute."""
        self.waited_for = threading.Event()
        """Set when somebody has waited for all these bytes."""
        self.stuck = threading.Event()
        self.go = threading.Event()
        self.server = OpenCodeServer(port=self.server_address[1], password="s3cret")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Answers

    def do_GET(self) -> None:
        if self.server.stuck.is_set():
            self.server.go.wait(STUCK)
        name = self.path.rsplit("/", 1)[1]
        self._answer(200, self.server.raw or json.dumps(getattr(self.server, name)).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.posted.append((self.path, body))
        self._answer(204, b"")

    def _answer(self, code: int, body: bytes) -> None:
        right = base64.b64encode(b"opencode:s3cret").decode()
        allowed = self.headers["Authorization"] == f"Basic {right}"
        self.send_response(code if allowed else 401)
        if self.server.drips == "head":
            self.flush_headers()
            self.wfile.write(b"X:")
            self._drip(b"\r\n")
        body = b" " * DROPS * (self.server.drips == "body") + body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.drips == "body":
            self._drip()
        self.wfile.write(body.lstrip())

    def _drip(self, end: bytes = b"") -> None:
        with suppress(OSError):  # nobody waits for it any more
            for _ in range(DROPS):
                self.wfile.write(b" ")
                time.sleep(PATIENCE / 6)
            self.wfile.write(end)
            self.server.waited_for.set()

    def log_request(self, code: object = "", size: object = "") -> None:
        pass


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """A server that is waited for, however slow the machine is."""
    for module in (server_of_opencode, database):
        monkeypatch.setattr(module, "PATIENCE", STUCK)
    with Answers() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.go.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def session_view(tmp_path: Path, answers: Answers) -> SessionView:
    session_view = placed.opencode(tmp_path, recording("opencode.sql"))
    placed.written(tmp_path / "session/server.json", msgspec.json.encode(answers.server))
    return session_view


@pytest.mark.parametrize(
    ("answer", "state", "rule", "note"),
    [
        ({"permission": ASKED, "status": BUSY}, S.WAITING, "permission", "bash"),
        ({"question": [{}], "status": BUSY}, S.WAITING, "question", ""),
        ({"status": BUSY}, S.WORKING, "busy", ""),
        ({"status": RETRY}, S.WORKING, "retry", "slow down"),
        ({}, S.ERROR, "failed turn", "scripted 401"),
    ],
)
def test_the_server_says_what_it_does(
    session_view: SessionView, answers: Answers, answer: dict[str, object], state: State, rule: str, note: str
) -> None:
    for name, value in answer.items():
        setattr(answers, name, value)
    assert OPENCODE.look
    reading = OPENCODE.look(session_view, Memory())
    assert reading
    assert (reading.state, reading.rule, reading.note) == (state, rule, note)


@pytest.mark.parametrize("raw", [b"null", b"[1]", b"{", b"\xff", b"{" * 9999, b'{"a":{"type":7}}'])
def test_what_cannot_be_read_leaves_it_to_the_database(session_view: SessionView, answers: Answers, raw: bytes) -> None:
    answers.raw = raw
    assert OPENCODE.look
    reading = OPENCODE.look(session_view, Memory())
    assert reading
    assert (reading.state, reading.source) == (S.ERROR, "database")


def test_a_server_that_does_not_answer_is_left_alone_for_a_while(
    session_view: SessionView, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look is bounded in time, and the next ones ask nothing."""
    monkeypatch.setattr(server_of_opencode, "PATIENCE", PATIENCE)
    answers.stuck.set()
    memory = Memory()
    assert OPENCODE.look
    reading = OPENCODE.look(session_view, memory)
    assert reading
    assert reading.source == "database"
    before = memory.pause_until
    assert OPENCODE.look(session_view, memory) == reading
    assert memory.pause_until == before > 0


@pytest.mark.parametrize("part", ["head", "body"])
def test_a_server_that_answers_byte_by_byte_is_one_that_does_not(
    session_view: SessionView, answers: Answers, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each byte would give it the whole time of a look again, and the lead's round would wait for it."""
    monkeypatch.setattr(server_of_opencode, "PATIENCE", PATIENCE)
    answers.drips, memory = part, Memory()
    assert OPENCODE.look
    reading = OPENCODE.look(session_view, memory)
    assert reading
    assert reading.source == "database"
    assert memory.pause_until > 0
    assert not answers.waited_for.is_set()


def test_another_password_is_refused(session_view: SessionView, answers: Answers, tmp_path: Path) -> None:
    other = OpenCodeServer(port=answers.server.port, password="guess")
    placed.written(tmp_path / "session/server.json", msgspec.json.encode(other))
    assert OPENCODE.deliver
    assert not OPENCODE.deliver(session_view, "hello")


def test_a_line_is_posted_as_a_prompt(session_view: SessionView, answers: Answers) -> None:
    assert OPENCODE.deliver
    assert OPENCODE.deliver(session_view, "You have 1 unread message: run `pro0 inbox`")
    [(path, body)] = answers.posted
    assert path == f"/session/{placed.OPENCODE}/prompt_async"
    text = "You have 1 unread message: run `pro0 inbox`"
    assert body == {"parts": [{"type": "text", "text": text, "metadata": {"pro0": True}}]}


def test_a_turn_is_stopped_by_its_server(session_view: SessionView, answers: Answers) -> None:
    assert OPENCODE.stop
    assert OPENCODE.stop(session_view)
    assert answers.posted == [(f"/session/{placed.OPENCODE}/abort", {})]
    assert not OPENCODE.stop(msgspec.structs.replace(session_view, session=""))


@pytest.mark.parametrize("session", ["", "../x", "ses_1/abort?x=1", "ses_ä b"])
def test_a_line_goes_to_a_known_session_only(session_view: SessionView, answers: Answers, session: str) -> None:
    assert OPENCODE.deliver
    assert not OPENCODE.deliver(msgspec.structs.replace(session_view, session=session), "hello")
    assert not answers.posted


def test_nothing_is_delivered_without_a_server(tmp_path: Path) -> None:
    assert OPENCODE.deliver
    assert not OPENCODE.deliver(placed.session_view(tmp_path, placed.OPENCODE), "hello")


def test_its_session_is_known_by_its_first_prompt(session_view: SessionView, answers: Answers, tmp_path: Path) -> None:
    """All opencodes share one database: the session with this member's first prompt is its own."""
    assert OPENCODE.look
    unknown = msgspec.structs.replace(session_view, session="")
    placed.written(tmp_path / "session/prompt.md", placed.ASKED["opencode"].encode())
    reading = OPENCODE.look(unknown, Memory())
    assert reading
    assert reading.session == placed.OPENCODE
    placed.written(tmp_path / "session/prompt.md", b"Another member's.")
    other = OPENCODE.look(unknown, Memory())
    assert other
    assert other.session == ""


@pytest.mark.parametrize(("minutes", "state"), [(0, S.STARTING), (10, S.IDLE)])
def test_it_starts_until_its_first_prompt_is_taken(
    session_view: SessionView, answers: Answers, tmp_path: Path, minutes: int, state: State
) -> None:
    placed.written(tmp_path / "session/prompt.md", b"Not in the database yet.")
    began = datetime.now(UTC) - timedelta(minutes=minutes)
    assert OPENCODE.look
    reading = OPENCODE.look(msgspec.structs.replace(session_view, session="", started_at=began), Memory())
    assert reading
    assert reading.state is state


def test_it_starts_also_while_its_server_says_nothing(tmp_path: Path) -> None:
    """On a busy machine an empty input is drawn before the server answers."""
    session_view = placed.opencode(tmp_path, recording("opencode.sql"))
    placed.written(tmp_path / "session/prompt.md", b"Not in the database yet.")
    assert OPENCODE.look
    reading = OPENCODE.look(msgspec.structs.replace(session_view, session="", started_at=datetime.now(UTC)), Memory())
    assert reading
    assert reading.state is S.STARTING


def test_usage_is_what_was_sent(tmp_path: Path) -> None:
    """Issue 4, must show 1; what its subagents used counts too."""
    session_view, memory = placed.opencode(tmp_path, recording("opencode.sql")), Memory()
    sent = Usage(input_tokens=100, output_tokens=7, cache_read_tokens=20, models=("fake-model",))
    assert OPENCODE.usage
    assert OPENCODE.usage(session_view, memory) == sent
    assert OPENCODE.usage(session_view, memory) == sent
    with closing(sqlite3.connect(tmp_path / ".local/share/opencode/opencode.db")) as database:
        columns = [row[1] for row in database.execute("pragma table_info(session)")]
        chosen = ", ".join({"id": "'ses_child'", "parent_id": "id"}.get(column, column) for column in columns)
        database.execute(f"insert into session select {chosen} from session")
        data = {"role": "assistant", "modelID": "fake-model", "cost": 0.5, "tokens": {"input": 1, "output": 2}}
        values = ("msg_child", "ses_child", 1_795_316_800_000, 1_795_316_800_000, json.dumps(data))
        database.execute("insert into message values (?, ?, ?, ?, ?)", values)
        database.commit()
    more = msgspec.structs.replace(sent, input_tokens=101, output_tokens=9, cost_usd=0.5)
    assert OPENCODE.usage(session_view, memory) == more


def test_a_session_can_go_on_when_it_is_in_the_database(tmp_path: Path) -> None:
    session_view = placed.opencode(tmp_path, recording("opencode.sql"))
    assert OPENCODE.began
    assert OPENCODE.began(session_view)
    assert not OPENCODE.began(msgspec.structs.replace(session_view, session="ses_other"))
