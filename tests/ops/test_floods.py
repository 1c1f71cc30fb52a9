"""One mailbox under many senders: nothing lost, doubled, or out of a sender's order (reliability 4, 22; AC-69, AC-72).

What a send costs is counted in bytes; how long it takes is in bench/store.py.
"""

import os
import random
import signal
import time
from collections import Counter
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from pro0.ops.mail import messages
from pro0.rules.mail import HEAD_COUNT
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.crash.lanes import LANES, SOAK, counted
from tests.teams import human, make_team, member
from tests.traffic import traffic
from tests.waiting import STUCK, wait_until

SENDERS = 10
NUMBERS = {"test": 300, SOAK: 10_000}
"""Messages of each sender."""
KILLED = {"test": 100, SOAK: 10_000}


def team_in(home: Path) -> TeamStore:
    return Store(home).team("alpha")


def send(home: Path, name: str, first: int, number: int) -> None:
    """Send numbered messages; each that is acknowledged is noted, before the next is sent."""
    context = member(team_in(home), name)
    noted = os.open(home / f"{name}.sent", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for count in range(first, number):
        messages.send(context, "reader", f"{name} {count}")
        os.write(noted, f"{count}\n".encode())


def acknowledged(home: Path, name: str) -> list[int]:
    path = home / f"{name}.sent"
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


def drain(team: TeamStore, found: list[tuple[str, int]]) -> int:
    """Read what is there, part by part, acknowledging it; returns how many there were."""
    before = len(found)
    while letters := messages.inbox(member(team, "reader"), acknowledge=True):
        assert not any(letter.again for letter in letters)
        for letter in letters:
            name, count = letter.message.content.split()
            assert letter.message.from_ == name
            found.append((name, int(count)))
    return len(found) - before


@pytest.mark.parametrize("lane", LANES)
def test_many_send_to_one_mailbox_while_it_is_read(home: Path, lane: str) -> None:
    """10 processes send, each message is acknowledged by the reader: all of them, once, in each sender's order."""
    names, number = [f"w{count}" for count in range(SENDERS)], NUMBERS[lane]
    team, found = make_team(home, "reader", *names), list[tuple[str, int]]()
    processes = [crowd.start(send, home, name, 0, number) for name in names]
    wait_until(lambda: drained(team, found, processes), number * 6, "the end of all senders")
    crowd.all_end_well(processes)
    assert {name: [count for other, count in found if other == name] for name in names} == {
        name: list(range(number)) for name in names
    }
    check_store(team, SENDERS * number)
    counted(lane, "mail", "all", SENDERS * number)


def drained(team: TeamStore, found: list[tuple[str, int]], processes: list[BaseProcess]) -> bool:
    over = all(process.exitcode is not None for process in processes)
    return drain(team, found) == 0 and over


def check_store(team: TeamStore, number: int) -> None:
    box = team.mailbox("reader")
    head = box.head.read()
    assert [message.seq for message in box.since(head, 0)] == list(range(1, number + 1))
    assert (head.acked, head.next_seq, len(head.messages) <= HEAD_COUNT) == (number, number + 1, True)


@pytest.mark.parametrize("lane", LANES)
def test_senders_are_killed_at_random(home: Path, lane: str) -> None:
    """What a killed sender was told is sent is there; what it was in the middle of is there once or not at all."""
    dice, names, number = random.Random(7), [f"w{count}" for count in range(SENDERS)], KILLED[lane]
    team, found = make_team(home, "reader", *names), list[tuple[str, int]]()
    running = {name: crowd.start(send, home, name, 0, number) for name in names}
    begun, kills, deadline = dict.fromkeys(names, 0), Counter[str](), time.monotonic() + STUCK + number * 6
    while running:
        assert time.monotonic() < deadline
        drain(team, found)
        victim = dice.choice(sorted(running))
        process = running[victim]
        process.join(0.02 * dice.random())
        if kills[victim] < 3 and acknowledged(home, victim) and process.exitcode is None:
            process.kill()
            process.join()
        if process.exitcode is None:
            continue
        assert process.exitcode in (0, -signal.SIGKILL)
        killed = process.exitcode == -signal.SIGKILL
        kills[victim] += killed
        if not killed and kills[victim] > 1:
            del running[victim]
        else:  # the message in the middle is never sent again, so that it cannot come twice; who was too fast goes on
            begun[victim] = max(max(acknowledged(home, victim), default=-1) + 1 + killed, begun[victim] + killed)
            running[victim] = crowd.start(send, home, victim, begun[victim], max(number, begun[victim] + 100))
    drain(team, found)
    assert sum(kills.values()) > SENDERS
    for name in names:
        got, sent = [count for other, count in found if other == name], acknowledged(home, name)
        assert got == sorted(set(got)), name
        assert set(sent) <= set(got), name
        assert len(set(got) - set(sent)) <= kills[name], name
    check_store(team, len(found))
    counted(lane, "mail of the killed", "all", len(found))


def filled(home: Path, number: int) -> TeamStore:
    team = make_team(home / str(number), "w1")
    for count in range(number):
        messages.send(human(team), "w1", f"message {count:06} of some length, as agents write them")
    return team


FULL = {"test": 500, SOAK: 10_000}


@pytest.mark.parametrize("lane", LANES)
def test_a_send_costs_the_same_in_a_full_mailbox(home: Path, lane: str) -> None:
    """Bytes of one send into a box of 10 and of many: at most 1.2 times as many, besides those of a head."""
    small, large = filled(home, 10), filled(home, FULL[lane])
    head = max(filled(home, HEAD_COUNT).mailbox("w1").head.path.stat().st_size, 1)
    for count in range(HEAD_COUNT + 10):
        costs = [traffic(lambda team=team: messages.send(human(team), "w1", "x" * 50)) for team in (small, large)]  # type: ignore[misc]
        if count == 0:
            first = costs[0]
        assert costs[1].read <= 1.2 * first.read + head, count
        assert costs[1].written <= 1.2 * first.written + 1.5 * head, count  # the segment too, when it seals
    counted(lane, "full mailbox", "all", FULL[lane])
