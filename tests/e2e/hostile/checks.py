"""What must hold at home beside what holds for every try, and the shape of a try."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from pro0.cli.output import line
from pro0.engine import hosts
from pro0.errors import EnvironmentMissing
from pro0.link.doing import LIMIT
from tests.cli.test_output import on_terminal
from tests.e2e.hostile.home import CODED, SECRET, Home
from tests.hostile.test_printing import harmless as is_harmless
from tests.repositories import git
from tests.waiting import STUCK, wait_until

Told = dict[str, Any]
Check = Callable[[Home, str, Told], None]
PAINT = "\x1b[2J\x1b]52;c;eA==\x07\x1b]0;owned\x07\x9b31m r\u202egpj.exe \u2066x\u200b"
"""What a terminal would obey, or show as something else."""
BEYOND = 1 << 62


def nothing(_home: Home, _name: str, _told: Told) -> None:
    """Nothing more than what holds for every try."""


class Try(NamedTuple):
    """One try; the acts are functions of `acts.py` and their arguments."""

    wants: str
    """The harm."""
    serve: tuple[Any, ...] = ("waits",)
    end: tuple[Any, ...] = ("says_over",)
    agent: str = "command"
    """What the member is, as home knows it."""
    check: Check = nothing
    """What must hold besides, while the member is there."""
    after: Check = nothing
    """What must hold once it is over."""
    ends_itself: bool = True
    """False where the person has to end the session."""
    soak: bool = False
    gives: tuple[Any, ...] = ()
    """An act of `gits.py`: what the attacker gives as the commits of a member, instead of a session."""
    comes: bool = True
    """Whether they come home."""


def refused(home: Home, name: str, told: Told) -> None:
    """Hold that no command was done, and that none says what it should not."""
    assert {answer["code"] for answer in told["answers"]} <= {2, 3, 4}, told["answers"]
    silent(home, name, told)


def silent(_home: Home, _name: str, told: Told) -> None:
    """Hold that nothing of the person's files is told."""
    assert SECRET not in str(told)
    assert not [
        answer for answer in told["answers"] if "Traceback" in answer["errors"] or "internal" in answer["errors"]
    ]


def own_mail(home: Home, name: str, told: Told) -> None:
    """Hold that what it wrote is its own, word for word."""
    silent(home, name, told)
    sent = [text for sender, text in home.letters().values() if sender == name]
    assert sent
    assert all(SECRET not in text for text in sent)


def not_working(home: Home, name: str, _told: Told) -> None:
    assert home.crew.task("task-1").assignee == "ada"
    assert home.member(name)["state"] != "crashed"


def harmless(home: Home, name: str, _told: Told) -> None:
    """Hold that nothing of it reaches the person's terminal but as text."""
    home.shows_nothing(name)


def drawn(home: Home, name: str, told: Told) -> None:
    """Hold the same, and of what is on its screen."""
    harmless(home, name, told)
    assert is_harmless(home.shown(name))


def held_back(_home: Home, _name: str, told: Told) -> None:
    """Hold that home stopped reading, since what it said was not taken."""
    assert told["is_held_back"]


def within_bounds(_home: Home, _name: str, told: Told) -> None:
    assert max(len(answer["out"]) + len(answer["errors"]) for answer in told["answers"]) <= LIMIT + 1000


def no_cost(home: Home, name: str, _told: Told) -> None:
    assert not [entry for entry in home.team.usage.read().sessions if entry.agent_id == name]


def asked(home: Home, name: str, _told: Told) -> None:
    """Hold that what it asks is shown as its own, and that no answer is its own."""
    mine = [one for one in home.requests() if one.agent_id == name]
    assert mine
    assert not [one for one in mine if one.answer]
    assert {one.incarnation for one in mine} == {home.crew.state(name).incarnation}
    home.shows_nothing(name)


def not_asked(home: Home, name: str, _told: Told) -> None:
    assert not [one for one in home.requests() if one.agent_id == name and not one.outcome]


def limits_itself(home: Home, name: str, _told: Told) -> None:
    """Hold that a rate limit there is one of that machine's login."""
    limits = wait_until(lambda: home.team.runtime.read().limits, STUCK, f"the screen of {name} is read")
    assert [limit.agent for limit in limits] == ["codex@build1"]


def few_threads(home: Home, name: str, _told: Told) -> None:
    assert home.threads(name) < 64


def not_over(home: Home, name: str, _told: Told) -> None:
    """Hold that nobody takes a session for over, until the person gives it up."""
    assert home.team.hosted(home.crew.state(name).incarnation)
    home.shows_nothing(name)
    home("member", "forget", name)
    assert not home.team.hosted(home.crew.state(name).incarnation)


def not_over_in_words(home: Home, name: str, told: Told) -> None:
    """Hold that a cleanup says so in a sentence."""
    hosted = home.team.hosted(home.crew.state(name).incarnation)
    assert hosted
    with pytest.raises(EnvironmentMissing) as raised:
        hosts.end(hosted)
    assert len(line(raised.value.message)) < 1000
    not_over(home, name, told)


def painted(home: Home, _name: str, _told: Told) -> None:
    """Hold that what is shown of commits is text, on a terminal and as JSON."""
    assert is_harmless(home("diff", CODED, "--json").out)
    assert is_harmless(home("member", "show", CODED).out)
    for words in (("diff", CODED), ("diff", CODED, "--stat")):
        assert is_harmless(on_terminal(*words, "-t", "alpha", PAGER="cat", LC_ALL="C.UTF-8"), terminal=True)


def shown(home: Home, _name: str, _told: Told) -> None:
    """Hold that the member is shown all the same."""
    assert is_harmless(home("member", "show", CODED).out)


def merged(home: Home, _name: str, _told: Told) -> None:
    """Hold that a merge writes into the checkout alone, and runs nothing; then take it back."""
    head = git(home.project, "rev-parse", "HEAD")
    home("member", "merge", CODED, codes=(0, 4, 6))
    assert not home.mark.exists()
    for name in ("x", "out/taken", "a"):
        path = home.project / name
        assert not path.exists() or path.is_symlink() or home.project.resolve() in path.resolve().parents
    git(home.project, "reset", "-q", "--hard", head)
    git(home.project, "clean", "-qfd")
