"""Commands that wait, asked for on another machine: a real sshd on 127.0.0.1 with a home of its own."""

import os
import signal
from typing import Any

import pytest

from tests import sshd
from tests.e2e.conftest import Team
from tests.e2e.machines import LIVES, called_with, cut, nothing_left, spawn, unreached
from tests.sshd import Machine

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())

WAIT = "pro0 inbox --wait 100"
BEGINS = f"{WAIT} > first; "
"""A wait before the one that is tested: once its mail is read, the next one has reached home."""


def said(machine: Machine, name: str) -> str:
    place = machine.home / name
    return place.read_text() if place.exists() else ""


def is_read(team: Team, text: str) -> bool:
    letters: list[dict[str, Any]] = [letter["message"] for letter in team.json("inbox", "--sent")]
    return any(letter["read"] for letter in letters if letter["content"] == text)


def begun(team: Team, machine: Machine, script: str) -> None:
    """Start bob, until the wait that is tested has reached home."""
    spawn(team, "bob", f"{BEGINS}{script}; {LIVES}")
    team("send", "bob", "the first")
    team.until(lambda: is_read(team, "the first"), "the next wait begins at home")
    assert "the first" in said(machine, "first")


def number(machine: Machine) -> int:
    return int(said(machine, "pid"))


def test_a_wait_ends_with_mail_or_with_its_time(led: Team, build1: Machine) -> None:
    """Issue 19, build 1: done at home with the command's own time."""
    begun(
        led, build1, f"{WAIT} > second; pro0 inbox --wait 1 2> late; echo $? > code; pro0 inbox --wait x; echo $? > odd"
    )
    led("send", "bob", "the second")
    led.until(lambda: said(build1, "odd"), "all of them have ended")
    assert "the second" in said(build1, "second")
    assert (said(build1, "code"), said(build1, "odd")) == ("124\n", "2\n")
    assert "no message came in 1 s" in said(build1, "late")
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(led, build1)


def test_two_waits_at_once_get_each_message_once(led: Team, build1: Machine) -> None:
    """Issue 19, build 1: and keep no other command waiting."""
    begun(led, build1, f"{WAIT} > a & {WAIT} > b & pro0 task create x; pro0 task list > list; wait; echo over > over")
    led.until(lambda: (build1.home / "list").exists(), "another command is done")
    led("send", "bob", "the second")
    led.until(lambda: "the second" in said(build1, "a") + said(build1, "b"), "one of them has it")
    led("send", "bob", "the third")
    led.until(lambda: said(build1, "over"), "both have ended")
    both = [said(build1, "a"), said(build1, "b")]
    assert sorted(text.count("the second") for text in both) == [0, 1]
    assert sorted(text.count("the third") for text in both) == [0, 1]
    assert "again" not in "".join(both)
    assert is_read(led, "the second")


def test_a_wait_goes_on_after_a_cut(led: Team, build1: Machine) -> None:
    """Issue 19, build 1 and 4: what comes while nobody is there stays unread, and is given when somebody is."""
    begun(led, build1, f"{WAIT} > second")
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    led("send", "bob", "the second")
    assert "queued: " in led("send", "bob", "the third", "--wait", "2", code=124).err
    assert not is_read(led, "the second")
    build1.start()
    led.until(lambda: "the third" in said(build1, "second"), "it is given")
    assert said(build1, "second").count("the second") == 1


def test_mail_that_has_arrived_before_a_cut_is_not_given_again(led: Team, build1: Machine) -> None:
    """Issue 19, must show 2: who has it cannot say so before the link is back, and has ended by then."""
    waits = f"{WAIT} > second & echo $! > pid; wait; while ! test -e go; do sleep 0.1; done"
    begun(led, build1, f"{waits}; pro0 inbox > third; echo over > over")
    asker = led.until(lambda: number(build1), "it waits")
    os.kill(asker, signal.SIGSTOP)
    assert led("send", "bob", "the second", "--wait", "60").out
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    os.kill(asker, signal.SIGCONT)
    led.until(lambda: "the second" in said(build1, "second"), "it is read there")
    build1.start()
    (build1.home / "go").touch()
    led.until(lambda: said(build1, "over"), "the next one has looked")
    assert "the second" not in said(build1, "third")
    assert is_read(led, "the second")
    assert not list(build1.home.rglob("taken-*")), "home has noted it"


@pytest.mark.parametrize("stopped", [False, True], ids=["waiting", "about to take it"])
@pytest.mark.parametrize("acknowledges", ["", " --ack"])
def test_mail_whose_asker_is_killed_is_given_again(
    led: Team, build1: Machine, stopped: bool, acknowledges: str
) -> None:
    """Issue 19, build 1: neither lost nor shown as read."""
    waits = f"{WAIT}{acknowledges} > killed & echo $! > pid; wait; while ! test -e go; do sleep 0.1; done"
    begun(led, build1, f"{waits}; {WAIT} > second")
    asker = led.until(lambda: number(build1), "it waits")
    if stopped:
        os.kill(asker, signal.SIGSTOP)
        assert led("send", "bob", "the second", "--wait", "60").out
    os.kill(asker, signal.SIGKILL)
    if not stopped:
        led("send", "bob", "the second")
    (build1.home / "go").touch()
    led.until(lambda: "the second" in said(build1, "second"), "the next one has it")
    assert not said(build1, "killed")
    assert "again" in said(build1, "second") or not stopped
    assert not is_read(led, "the second")


def at_home(words: str) -> list[int]:
    """The processes at home that do a command for the other machine."""
    return [one.pid for one in called_with(words.replace(" ", "\0"), "-I\0-m\0pro0")]


def test_a_message_whose_sender_waits_is_sent_once(led: Team, build1: Machine) -> None:
    """Issue 19, build 1, must show 2: what waits at home ends with the connection, and with the session."""
    sends = "send human {} --wait 100"
    script = "; ".join(f"pro0 {sends.format(text)} > {text} 2>&1; echo $? >> codes" for text in ("one", "two", "three"))
    spawn(led, "bob", f"{script}; {LIVES}")
    led.until(lambda: at_home(sends.format("one")), "it waits at home")
    led.until(lambda: "one" in led.mail("bob"), "it is sent")  # a process that has begun may not have sent yet
    led("inbox")
    led.until(lambda: said(build1, "codes") == "0\n", "it was read")
    assert "delivered to human" in said(build1, "one")
    led.until(lambda: "two" in led.mail("bob"), "the next is sent")
    cut(build1)
    led.until(lambda: not at_home(sends.format("two")), "nobody waits at home")
    build1.start()
    led.until(lambda: said(build1, "codes") == "0\n124\n", "it is told so")
    assert "sent to human" in said(build1, "two")
    assert "the connection was cut while it waited" in said(build1, "two")
    led.until(lambda: at_home(sends.format("three")), "the last waits at home")
    assert led.mail("bob").count("two") == 1
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(led, build1)
    led.until(lambda: not at_home(sends.format("three")), "nobody waits at home")
