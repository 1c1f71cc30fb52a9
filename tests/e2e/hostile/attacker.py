"""What an attacker on another machine has in hand: the link's own messages, in any order and of any content.

It is pro0's place there that this program takes. What it does stands in a file: for each act that home asks for, the
name of a function of `acts.py` or `gits.py` and its arguments.
"""

import json
import os
import select
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pro0 import __version__
from pro0.link import streams
from pro0.terminals import protocol

PLAN, TOLD, GO = "plan.json", "told.json", "go"
"""What is to be done, what was done and seen, and the word of the test to come to an end; files of that machine."""
BLOCKED = 1.0
"""Seconds without a byte taken after which home counts as not reading."""
DEFAULTS = {"serve": ("waits",), "end": ("says_over",)}

JSON = dict[str, Any]


class Attacker:
    """One call of pro0 there."""

    def __init__(self, place: Path, words: list[str]) -> None:
        self.place, self.words = place, words
        self.told: JSON = {}
        """What the test is to know."""
        self._inbox = protocol.MessageReader(1 << 28)
        self._heard: list[tuple[bytes, JSON]] = []
        self._asked = 0
        self._sshd = os.getppid()

    def say(self, kind: bytes, value: object) -> None:
        """Send one message."""
        self.raw(protocol.packed(kind, value))

    def raw(self, data: bytes) -> None:
        """Send bytes, all of them."""
        while data:
            data = data[os.write(1, data) :]

    def pour(self, pieces: Callable[[int], bytes], most: int) -> int:
        """Send pieces until home takes no more, or `most` bytes are sent; return the bytes."""
        os.set_blocking(1, False)
        sent = number = 0
        rest = b""
        while sent < most:
            while len(rest) < 1 << 16:
                rest += pieces(number)
                number += 1
            if not select.select([], [1], [], BLOCKED)[1]:
                break
            try:
                count = os.write(1, rest)
            except BrokenPipeError:
                break
            rest, sent = rest[count:], sent + count
        os.set_blocking(1, True)
        if sent >= most:
            self.raw(rest)
        return sent

    def hear(self, kind: bytes, id: str = "") -> JSON:
        """Return the next message of a kind, or the answer to one ask; the others are kept."""
        while True:
            for entry in self._heard:
                if entry[0] == kind and (not id or entry[1].get("id") == id):
                    self._heard.remove(entry)
                    return entry[1]
            data = os.read(0, 1 << 16)
            if not data:
                sys.exit()
            for heard, payload in self._inbox.take(data):
                self._heard.append((heard, protocol.unpacked(payload) if payload[:1] == b"{" else {}))

    def greet(self) -> JSON:
        """Begin as pro0 there begins; return what home asks for."""
        self.say(streams.HELLO, {"version": __version__})
        order = self.hear(streams.BEGIN)
        self.say(streams.BEGUN, {})
        return order

    def send_ask(self, words: object, given: object = "", id: str = "") -> str:
        """Ask for a command, and return the id of the ask."""
        self._asked += 1
        id = id or f"{os.getpid()}-{self._asked}"
        self.say(streams.ASK, {"id": id, "words": words, "input": given})
        return id

    def ask(self, words: object, given: object = "", id: str = "") -> JSON:
        """Ask for a command, and return the answer."""
        answer = self.hear(streams.ANSWER, self.send_ask(words, given, id))
        self.say(streams.TAKEN, {"id": answer["id"]})
        return answer

    def is_heard(self) -> None:
        """Return once home has taken all that was sent before."""
        self.ask(["is", "refused"])

    def note(self, **what: object) -> None:
        """Remember something for the test."""
        self.told |= what

    def hold(self) -> None:
        """Let the test look, until it says that it has seen all."""
        new = self.place / f".{TOLD}"
        new.write_text(json.dumps(self.told))
        new.rename(self.place / TOLD)
        while not (self.place / GO).exists() and not self.is_left():
            time.sleep(0.01)

    def is_left(self) -> bool:
        """Return True when home has gone, without reading what it has sent."""
        looks = select.poll()
        looks.register(0, 0)
        return bool(looks.poll(0))

    def stay(self) -> None:
        """Do nothing more, as long as the connection is there."""
        while os.getppid() == self._sshd:
            time.sleep(0.05)

    def over(self, **how: object) -> None:
        """Say that the session is over, and wait for home to leave."""
        self.say(streams.OVER, {"code": 0, "signal": None, "reason": "", **how})
        self.drain()

    def drain(self) -> None:
        """Read until home has gone."""
        while os.read(0, 1 << 16):
            pass


def main(place: Path, words: list[str]) -> None:
    """Do what is planned for one call of pro0 there."""
    plan: JSON = {**DEFAULTS, **json.loads((place / PLAN).read_text())}
    if words[1] == "serve" and (place / GO).exists():
        plan["serve"] = ("waits",)  # the test has seen all
    name, *arguments = plan.get(words[1], ("says_over",))
    module = import_module(f"tests.e2e.hostile.{'gits' if words[1] in ('give', 'receive', 'make') else 'acts'}")
    getattr(module, name)(Attacker(place, words), *arguments)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
