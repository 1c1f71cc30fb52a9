"""Mail that is handed over a link is given once, whenever the link is cut and whoever sleeps meanwhile."""

import os
import queue
import signal
import threading
import time
from pathlib import Path
from typing import cast

import pytest

from pro0.link import asks as asks_module
from pro0.link import doing as doing_module
from pro0.link.asks import Answer, Asks
from pro0.link.doing import CommandEnd, CommandRequest, Doing
from pro0.link.mail import OwnMail
from pro0.link.permission import OwnPermissions
from tests import crowd
from tests.waiting import STUCK, wait_until

ASK: dict[str, object] = {"id": "mail", "words": ["inbox"], "input": ""}


class OneLetter:
    """A mailbox with one letter, and how often that was given and taken back."""

    def __init__(self) -> None:
        self.given = self.taken_back = 0

    def stamp(self) -> object:
        return None

    def take_back(self) -> None:
        self.taken_back += 1


class Giving(Doing):
    """Gives that letter to whoever asks."""

    def __init__(self, box: OneLetter) -> None:
        super().__init__(Path("/"), cast("OwnMail", box), cast("OwnPermissions", None))
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
