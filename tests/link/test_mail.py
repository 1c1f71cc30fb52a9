"""Mail that is handed over a link is given once, whenever the link is cut and whoever sleeps meanwhile."""

import errno
import json
import os
import queue
import signal
import threading
import time
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from pro0.errors import BadInput, StoreError
from pro0.link import asks as asks_module
from pro0.link import doing as doing_module
from pro0.link.asks import Answer, Asks
from pro0.link.doing import CHECK, CommandEnd, CommandRequest, Doing
from pro0.link.mail import OwnMail
from pro0.link.own import OwnSession
from pro0.link.permission import OwnPermissions
from pro0.model.message import BODY_LIMIT
from pro0.ops.mail import messages
from pro0.rules.mail import HANDED_BYTES, HEADER
from pro0.store import atomic
from pro0.store.paths import MESSAGES
from pro0.store.teams import TeamStore
from tests import crowd
from tests.faults import Call, Shim, fail_with, fault_at
from tests.teams import granted, human, make_team, member
from tests.waiting import STUCK, wait_until

ASK: dict[str, object] = {"id": "mail", "words": ["inbox"], "input": ""}


class OneLetter:
    """A mailbox with one letter, and how often that was given and taken back."""

    def __init__(self) -> None:
        self.given = self.taken_back = 0

    def stamp(self) -> object:
        return None

    def handed(self) -> int:
        return self.given

    def take_back(self) -> None:
        self.taken_back += 1


class Giving(Doing):
    """Gives that letter to whoever asks."""

    def __init__(self, box: OneLetter, *, owes_mail: bool = False) -> None:
        super().__init__(Path("/"), cast("OwnMail", box), cast("OwnPermissions", None), owes_mail=owes_mail)
        self._box = box

    def _run(self, words: list[str], request: CommandRequest) -> CommandEnd:
        self._box.given += 1
        return CommandEnd(0, f"letter {self._box.given}", "")


class Link:
    """The home's end of a link, with a letter that somebody there has asked for and been sent."""

    def __init__(self) -> None:
        self.box, self._rings = OneLetter(), queue.Queue[None]()
        self.asks = Asks(Giving(self.box), lambda: self._rings.put(None))
        self.asks.take(ASK)
        assert self.answer()["out"] == "letter 1"

    def answer(self) -> Answer:
        while not (answers := self.asks.answers()):
            self._rings.get(timeout=STUCK)
        [answer] = answers
        return answer

    @property
    def waits(self) -> bool:
        return bool(self.asks._requests)


def test_what_was_given_before_a_restart_of_home_is_given_again() -> None:
    """Nobody knows whether it arrived: better twice, and marked, than never (behaviour 3.4)."""
    box = OneLetter()
    box.given = 1
    rings = queue.Queue[None]()
    asks = Asks(Giving(box, owes_mail=True), lambda: rings.put(None))
    asks.take(ASK)
    wait_until(asks.answers, STUCK, "it is given")
    assert box.taken_back == 1
    asks.gone("mail")


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> Link:
    monkeypatch.setattr(asks_module, "BACK", 1.0)
    monkeypatch.setattr(doing_module, "HELD", 0.2)
    link = Link()
    link.asks.cut_off()
    time.sleep(0.5)  # longer than mail is held for somebody in reach
    assert link.waits, "nobody can say now that it has arrived"
    return link


def test_who_has_it_says_so_once_the_link_is_back(link: Link) -> None:
    """Issue 19, must show 2."""
    link.asks.connected()
    link.asks.taken("mail")
    wait_until(lambda: not link.waits, STUCK, "it is over")
    assert (link.box.given, link.box.taken_back) == (1, 0)


def test_who_has_it_not_is_sent_the_same_again(link: Link) -> None:
    """Issue 19, must show 2: not what has come since, which would be two letters for one ask."""
    link.asks.connected()
    link.asks.take(ASK)
    assert link.answer()["out"] == "letter 1"
    link.asks.taken("mail")
    wait_until(lambda: not link.waits, STUCK, "it is over")
    assert (link.box.given, link.box.taken_back) == (1, 0)


def test_whoever_says_nothing_has_it_not(link: Link) -> None:
    """Issue 19, must show 2: it is lost there, and is given to the next who asks."""
    link.asks.connected()
    wait_until(lambda: not link.waits, STUCK, "nobody waits for it any more")
    assert link.box.taken_back == 1
    link.asks.take(ASK)
    assert link.answer()["out"] == "letter 2"


def test_who_asks_again_and_hangs_then_has_it_not(link: Link) -> None:
    """Issue 19, must show 4: another machine cannot hold mail back for ever."""
    link.asks.connected()
    link.asks.take(ASK)
    wait_until(lambda: link.box.taken_back == 1, STUCK, "it is taken back")


def sleeps(at: Path) -> None:
    """Hand a letter over, sleep as a laptop does, and hear at once on waking up that it has arrived."""
    doing_module.HELD = 0.5
    box = OneLetter()
    request = CommandRequest("mail", ["inbox"], "")
    told = threading.Event()
    thread = threading.Thread(target=Giving(box).do, args=(request, lambda _: told.set()))
    thread.start()
    told.wait()
    at.touch()
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(0.05)  # what has come meanwhile is read
    request.settle(taken=True)
    thread.join()
    assert box.taken_back == 0


def test_a_sleep_of_home_takes_nothing_back(tmp_path: Path) -> None:
    """Issue 19, must show 2: while it sleeps nobody can be heard, and that time does not count."""
    process = crowd.start(sleeps, tmp_path / "asleep")
    wait_until((tmp_path / "asleep").exists, STUCK, "it falls asleep")
    time.sleep(1.0)
    assert process.pid
    os.kill(process.pid, signal.SIGCONT)
    crowd.all_end_well([process], STUCK)


class Desk:
    """The home's end of a link to w1 of a real team, whose commands are done by real processes."""

    def __init__(self, team: TeamStore, folder: Path) -> None:
        self.team = team
        session = OwnSession(team.name, "w1")
        self._doing = Doing(folder, OwnMail(session), OwnPermissions(session))

    def ask(self, *words: str, stdin: str = "", taken: bool = True) -> CommandEnd:
        """Let a command be done whose asker takes the answer, or is gone by then."""
        request, told = CommandRequest("id", list(words), stdin), list[CommandEnd]()

        def take(done: CommandEnd) -> None:
            told.append(done)
            request.settle(taken=taken)

        self._doing.do(request, take)
        [done] = told
        return done

    def letters(self) -> list[tuple[str, bool]]:
        """Read the mail; return each text, and whether it was given before."""
        done = self.ask("inbox", "--json")
        assert done.code == 0, done.errors
        return [(letter["message"]["content"], letter["again"]) for letter in json.loads(done.out)]


@pytest.fixture
def desk(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    team = make_team(home, "w1")
    for name, value in granted(team, "w1").items():
        monkeypatch.setenv(name, value)
    return Desk(team, tmp_path)


@pytest.mark.parametrize("words", [["inbox"], ["inbox", "--ack"], ["inbox", "--wait", "5"], CHECK])
def test_mail_of_a_command_that_printed_too_much_is_given_again(
    desk: Desk, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.4: its asker was shown nothing of it."""
    messages.send(human(desk.team), "w1", "x" * 2000)
    with monkeypatch.context() as bounds:
        bounds.setattr(doing_module, "LIMIT", 1000)
        assert "prints more than" in desk.ask(*words, stdin="{}" if words is CHECK else "").errors
    messages.send(human(desk.team), "w1", "later")
    assert desk.letters() == [("x" * 2000, True), ("later", False)]


@pytest.mark.parametrize("gone", [True, False], ids=["its asker is gone", "it prints too much"])
def test_mail_is_given_again_though_its_giving_back_has_failed_once(
    desk: Desk, gone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.32: a look meanwhile would count it as read, so it says what is wrong instead."""
    messages.send(human(desk.team), "w1", "stop")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as faults:
        faults.setattr(atomic, "replace", full)
        if not gone:
            faults.setattr(doing_module, "LIMIT", 1)
        desk.ask("inbox", taken=not gone)
        for words in (["inbox"], ["inbox", "--wait", "5"], CHECK):
            done = desk.ask(*words)
            assert (done.code, done.out) == (StoreError.exit_code, "")
            assert "No space left" in done.errors
    assert desk.letters() == [("stop", True)]
    assert desk.letters() == []


def test_a_command_that_gave_nothing_takes_no_earlier_mail_back(desk: Desk) -> None:
    """What its asker has read would be told twice."""
    messages.send(human(desk.team), "w1", "hello")
    assert desk.letters() == [("hello", False)]
    assert desk.ask("inbox", "--no-such-option").code == BadInput.exit_code
    assert desk.letters() == []


def unreadable(*times: int) -> AbstractContextManager[Shim]:
    """Let the first reads of a mailbox by this process fail that have these numbers."""
    reads, failing = count(1), fail_with(errno.EMFILE)

    def fault(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if args[1] == MESSAGES and next(reads) in times:
            return failing(shim, name, real, args, kwargs)
        return real(*args, **kwargs)

    return fault_at(None, fault, ("pro0.store.atomic.read",))


MOMENTS = [(1,), (2,), (1, 2), (2, 3)]
"""Reads that fail: before a look, after it, both, and the next one too."""


@pytest.mark.parametrize("reads", MOMENTS)
@pytest.mark.parametrize("earlier", [True, False], ids=["after other mail", "as the first"])
def test_mail_of_a_failed_look_is_given_again_though_the_mailbox_could_not_be_read(
    desk: Desk, reads: tuple[int, ...], earlier: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.32: what nobody was shown counts as unread; what was read is not told twice."""
    if earlier:
        messages.send(human(desk.team), "w1", "hello")
        assert desk.letters() == [("hello", False)]
    messages.send(human(desk.team), "w1", "stop")
    with monkeypatch.context() as bounds, unreadable(*reads):
        bounds.setattr(doing_module, "LIMIT", 1)
        for _ in reads:
            assert desk.ask("inbox").code != 0
    assert [text for text, _ in desk.letters()] == ["stop"]
    assert desk.letters() == []


@pytest.mark.parametrize("reads", MOMENTS)
def test_a_look_that_gave_nothing_takes_no_mail_back_though_the_mailbox_could_not_be_read(
    desk: Desk, reads: tuple[int, ...]
) -> None:
    messages.send(human(desk.team), "w1", "hello")
    assert desk.letters() == [("hello", False)]
    with unreadable(*reads):
        for _ in reads:
            assert desk.ask("inbox", "--no-such-option").code != 0
    assert desk.letters() == []


def test_mail_of_a_look_that_nobody_foresaw_to_fail_is_given_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behaviour 3.32"""

    def without_memory(_: bytes) -> str:
        raise MemoryError

    messages.send(human(desk.team), "w1", "stop")
    with monkeypatch.context() as fault:
        fault.setattr(doing_module, "_text", without_memory)
        with pytest.raises(MemoryError):
            desk.ask("inbox")
    assert desk.letters() == [("stop", True)]
    assert desk.letters() == []


LONGEST = ["\x01", '"', "\U000f0000", "ü"]
"""What the answers spell in many letters, and in few."""


@pytest.mark.parametrize("letter", LONGEST)
@pytest.mark.parametrize("words", [["inbox"], ["inbox", "--json"], CHECK])
def test_mail_of_any_length_comes_through_in_parts(desk: Desk, letter: str, words: list[str]) -> None:
    """Else none of it would ever reach its reader."""
    half, twentieth = (HANDED_BYTES // parts - HEADER for parts in (2, 20))
    for size in (BODY_LIMIT, half, half, *(twentieth for _ in range(40))):
        messages.send(human(desk.team), "w1", letter * (size // len(letter.encode())))
    parts = 0
    while (left := messages.left(member(desk.team, "w1"))) or not parts:
        done = desk.ask(*words, stdin="{}" if words is CHECK else "")
        assert done.code == 0, done.errors
        parts += 1
        now = messages.left(member(desk.team, "w1"))
        assert now < left
        assert (f"{now} more unread: pro0 inbox" in done.errors) == (now > 0 and words is not CHECK)
        assert (f"You have {now} unread message" in done.out) == (now > 0 and words is CHECK)
    assert parts == 4
