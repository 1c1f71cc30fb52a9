"""What the attacker's program does in the place of pro0 there: one function for each way, told apart by arguments."""

import math
import os
import sys
import time
from pathlib import Path
from typing import Any

from pro0 import __version__
from pro0.link import streams
from pro0.terminals import protocol
from tests.e2e.hostile.attacker import Attacker

KINDS = {
    name: getattr(module, name)
    for module in (protocol, streams)  # both have a TAKEN, and the link's counts
    for name in dir(module)
    if isinstance(getattr(module, name), bytes) and name.isupper()
}
HOOK = ["member", "permission-hook"]
EVENT = '{"tool_name": "Bash", "tool_input": {"command": "rm -r /"}, "tool_use_id": "%s"}'
MANY = 100_000
DEEP = (*range(900, 1000, 4), 3000, 9990, 10_000, 100_000)
"""Levels of values: of some, json reads as many and cannot write them."""
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    math.nan,
    math.inf,
    -math.inf,
    "",
    "x" * 70000,
    "\ud800",
    "\x1b]0;x\x07",
)
ODD += ([], [[]], {}, {"": None}, ["\0"], [None] * 1000)
DEEPEST = b"[" * 980 + b"]" * 980
FIELDS: tuple[str, ...] = (
    "version",
    "why",
    "state",
    "task",
    "note",
    "id",
    "words",
    "input",
    "code",
    "signal",
    "reason",
    "rows",
)
FIELDS += ("cursor", "modes", "title", "visible", "input_tokens", "cost_usd", "models")


def waits(attacker: Attacker) -> None:
    """Be an honest machine for a while."""
    attacker.greet()
    attacker.hold()
    attacker.over()


def says_over(attacker: Attacker, text: str = "{}", errors: str = "", code: int = 0) -> None:
    """Answer at once to what is no session."""
    sys.stdout.write(text)
    sys.stderr.write(errors)
    sys.stdout.flush()
    sys.exit(code)


def asks(attacker: Attacker, commands: list[Any], given: str = "- title: evil", id: str = "") -> None:
    """Ask for commands, one after the other."""
    attacker.greet()
    words = [command.split() if isinstance(command, str) else command for command in commands]
    attacker.note(answers=[attacker.ask(one, given, id) for one in words])
    attacker.hold()
    attacker.over()


def sends(attacker: Attacker, *messages: tuple[str, Any]) -> None:
    """Send messages of any content, after a proper beginning."""
    attacker.greet()
    for kind, value in messages:
        attacker.say(KINDS.get(kind, kind.encode()), value)
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def shows(attacker: Attacker, screen: str) -> None:
    """Draw what an agent drew once."""
    attacker.greet()
    rows = (Path(__file__).parents[2] / "screens" / f"{screen}.txt").read_text().split("\n")
    attacker.say(protocol.FRAME, {"rows": dict(enumerate(rows)), "cursor": [2, 41], "title": "codex_i"})
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def draws(attacker: Attacker, texts: list[str], last: str) -> None:
    """Draw and say what a terminal would obey, and then, in every row, that this is all."""
    attacker.greet()
    for text in texts:
        attacker.say(streams.REPORT, {"state": "running", "task": text, "note": text})
        attacker.say(protocol.FRAME, {"rows": {"3": text}, "title": text, "modes": [1000, 2004]})
    rows = dict.fromkeys(range(48), last) | {0: f"\x1b\\\x1b[201~\x1bc{last}"}
    attacker.say(protocol.FRAME, {"rows": rows, "title": "#(touch x) #{pid}", "modes": []})
    attacker.stay()


def ends(attacker: Attacker, how: dict[str, Any]) -> None:
    """End in an odd way."""
    attacker.greet()
    attacker.hold()
    attacker.over(**how)


def refuses(attacker: Attacker) -> None:
    """Be asked to begin, and say no: home cannot know that nothing runs there."""
    attacker.say(streams.HELLO, {"version": __version__})
    attacker.hear(streams.BEGIN)
    attacker.hold()
    attacker.say(streams.REFUSED, {"why": "\x1b[2Jno"})
    attacker.drain()


def before_hello(attacker: Attacker) -> None:
    """Ask and tell before either side has said who it is, and begin then."""
    for n in range(300):
        attacker.say(streams.ASK, {"id": f"early-{n}", "words": ["task", "list"], "input": ""})
    attacker.say(streams.REPORT, {"state": "idle", "task": "task-1", "note": "early"})
    attacker.say(protocol.FRAME, {"rows": {"0": "early"}})
    attacker.say(streams.USED, {"input_tokens": 7})
    attacker.say(streams.BEGUN, {})
    waits(attacker)


def every_field_odd(attacker: Attacker) -> None:
    """Send each kind of message with each field of each odd type."""
    attacker.greet()
    for kind in (*set(KINDS.values()) - {streams.HELLO, streams.OVER}, b"?", b"\0", b"\xff"):
        for odd in ODD:
            attacker.say(kind, dict.fromkeys(FIELDS, odd))
            attacker.say(
                kind, {"rows": {"0": odd, str(odd): "x"}, "cursor": [odd, odd], "modes": [odd], "words": [odd]}
            )
            attacker.say(kind, odd)
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def deep(attacker: Attacker) -> None:
    """Send values of as many levels as are read, in each field."""
    attacker.greet()
    for levels in DEEP:
        value = b"[" * levels + b"]" * levels
        for kind in set(KINDS.values()) - {streams.HELLO, streams.OVER}:
            fields = b",".join(b'"%s":%s' % (field.encode(), value) for field in FIELDS[:4])
            attacker.raw(protocol.message(kind, b"{%s}" % fields))
            attacker.raw(protocol.message(kind, value[:levels]))
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def deep_reason(attacker: Attacker) -> None:
    """End with a reason of many levels."""
    attacker.greet()
    attacker.hold()
    attacker.raw(protocol.message(streams.OVER, b'{"code":7,"reason":' + DEEPEST + b"}"))
    attacker.drain()


def deep_version(attacker: Attacker) -> None:
    """Say a version of many levels, at each of the first connections."""
    attacker.raw(protocol.message(streams.HELLO, b'{"version":' + DEEPEST + b"}"))
    attacker.hold()


def no_text(attacker: Attacker) -> None:
    """Send what is no JSON."""
    attacker.greet()
    for payload in (b"", b"no", b"[]", b"\xff\xfe", b'{"a":1', b"{}" * 9, b"1" * 5000, b'{"a":' + b"9" * 5000 + b"}"):
        for kind in (*KINDS.values(), b"?"):
            if kind != streams.OVER or payload[:1] != b"{":
                attacker.raw(protocol.message(kind, payload))
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def huge(attacker: Attacker, kind: str, key: str, size: int) -> None:
    """Send messages that are as long as one may be."""
    attacker.greet()
    for _ in range(20):
        attacker.say(
            KINDS[kind], {"id": os.urandom(8).hex(), "words": ["task", "list"], "input": ""} | {key: "x" * size}
        )
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def wide(attacker: Attacker) -> None:
    """Send messages whose values take far more memory than their bytes."""
    attacker.greet()
    for kind, key in (
        (protocol.FRAME, "modes"),
        (streams.REPORT, "note"),
        (streams.ASK, "words"),
        (streams.USED, "models"),
    ):
        attacker.raw(protocol.message(kind, b'{"id":"w","input":"","%s":[%s0]}' % (key.encode(), b"[],{}," * 690_000)))
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def too_long(attacker: Attacker) -> None:
    """Announce a message of 4 GiB, and send some of it, at each connection."""
    attacker.greet()
    attacker.raw(b"F\xff\xff\xff\xff")
    attacker.note(sent=attacker.pour(lambda _: b"x" * 65536, 64 << 20))
    attacker.hold()
    attacker.drain()


def never_whole(attacker: Attacker) -> None:
    """Begin the longest message, and let it drip."""
    attacker.greet()
    attacker.raw(b"F\x00\x40\x00\x00" + b"x" * (3 << 20))
    for _ in range(20):
        attacker.raw(b"x")
        time.sleep(0.01)
    attacker.hold()


def floods(attacker: Attacker, kind: str, value: Any, count: int = MANY) -> None:
    """Send one message again and again, each with an id of its own, and read nothing of what comes back."""
    attacker.greet()

    def piece(number: int) -> bytes:
        return protocol.packed(KINDS[kind], {**value, **({"id": f"{number}"} if "id" in value else {})})

    most = count * len(piece(0))
    attacker.note(is_held_back=attacker.pour(piece, most) < most)
    attacker.hold()


def floods_and_reads(attacker: Attacker, kind: str, value: Any, count: int) -> None:
    """Send one message again and again, and read what comes back."""
    attacker.greet()
    for n in range(count):
        attacker.say(KINDS[kind], {**value, **({"id": f"{n}"} if "id" in value else {})})
        if n % 8 == 7:
            attacker.is_heard()
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def greets_again(attacker: Attacker) -> None:
    """Say hello again and again, and read no answer: each asks home to begin."""
    hello = protocol.packed(streams.HELLO, {"version": __version__})
    attacker.greet()
    attacker.note(sent=attacker.pour(lambda _: hello, MANY * len(hello)))
    attacker.hold()


def begins_again(attacker: Attacker) -> None:
    """Leave requests open, cut the connection, and say at the next that it has begun, again and again."""
    mark = attacker.place / f"begun-{attacker.words[2]}"
    attacker.greet()
    if not mark.exists():
        mark.touch()
        for n in range(3):
            attacker.send_ask(HOOK, EVENT % n)
        attacker.is_heard()
        sys.exit()
    for _ in range(5000):
        attacker.say(streams.BEGUN, {})
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def remembers(attacker: Attacker) -> None:
    """Let home print much, again and again."""
    attacker.greet()
    text = "x" * 250_000
    for _ in range(14):
        assert attacker.ask(["send", "human", "-"], text)["code"] == 0
    sizes = [len(attacker.ask(["inbox", "--sent", "--json"])["out"]) for _ in range(60)]
    attacker.note(sizes=sizes)
    attacker.hold()
    attacker.over()


def prints_much(attacker: Attacker) -> None:
    """Let home print more than a command may."""
    attacker.greet()
    for _ in range(12):
        attacker.ask(["send", "human", "-"], "\x01" * 200_000)
    attacker.note(answers=[attacker.ask(["inbox", "--sent", "--json"])])
    attacker.hold()
    attacker.over()


def permits_itself(attacker: Attacker) -> None:
    """Ask for a permission, and try to answer it."""
    attacker.greet()
    waiting = attacker.send_ask(HOOK, EVENT % "mine")
    attacker.is_heard()
    attacker.note(answers=[])
    tries = ("member answer ID allow", "needs --seen ID", "mcp --call answer_permission", "rpc permission.answer")
    attacker.note(answers=[attacker.ask(words.split(), '{"id": "ID", "choice": "allow"}') for words in tries])
    attacker.say(streams.ANSWER, {"id": waiting, "code": 0, "out": '{"behavior": "allow"}', "errors": ""})
    attacker.say(streams.TAKEN, {"id": waiting})
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def asks_permission(attacker: Attacker, event: str) -> None:
    """Ask the person for a permission, in these words, until the test has looked."""
    attacker.greet()
    attacker.send_ask(HOOK, event)
    attacker.is_heard()
    attacker.hold()
    attacker.over()


def acknowledges(attacker: Attacker) -> None:
    """Say that mail was taken that was never asked for, and that nobody waits any more."""
    attacker.greet()
    for id in ("0", "other", "", "x" * 4096):
        attacker.say(streams.TAKEN, {"id": id})
        attacker.say(streams.GONE, {"id": id})
    attacker.is_heard()
    attacker.note(answers=[attacker.ask(["inbox", "--ack"])])
    attacker.hold()
    attacker.over()


def goes_on_after_the_end(attacker: Attacker) -> None:
    """Say that the session is over, and go on asking."""
    attacker.greet()
    attacker.hold()
    attacker.raw(
        protocol.packed(streams.OVER, {"code": 0, "signal": None, "reason": ""})
        + protocol.packed(streams.REPORT, {"state": "working", "task": "task-1", "note": "still here"})
        + b"".join(
            protocol.packed(streams.ASK, {"id": f"late-{n}", "words": ["send", "ada", "late"], "input": ""})
            for n in range(100)
        )
    )
    attacker.drain()


def silent(attacker: Attacker) -> None:
    """Say nothing at all."""
    attacker.hold()
    attacker.drain()


def deaf(attacker: Attacker) -> None:
    """Begin, and read nothing from then on; the session never ends by its word."""
    attacker.greet()
    attacker.hold()
    attacker.stay()


def half_open(attacker: Attacker) -> None:
    """Begin, and close the one way only."""
    attacker.greet()
    os.close(1)
    attacker.hold()


def garbage(attacker: Attacker) -> None:
    """Print what a login may print, before all else."""
    attacker.raw(b"Welcome to build1!\r\n\x1b[2J\x1b]0;owned\x07 * 3 updates *\n" * 50)
    attacker.hold()
    waits(attacker)


def errors_without_end(attacker: Attacker) -> None:
    """Say much on stderr."""
    attacker.greet()
    line = b"\x1b]52;c;eA==\x07\x1b[31mbanner \xe2\x80\xae\n"
    for _ in range(300):
        os.write(2, line * 4000)
    attacker.is_heard()
    attacker.hold()
    os.write(2, b"\x1b[2Jlast\x07 words\n")


def leaves_at_once(attacker: Attacker, code: int) -> None:
    """End right after the beginning, each time."""
    attacker.greet()
    if not (attacker.place / "go").exists():
        os.write(2, b"\x1b[2J\x1b]0;owned\x07 no \xe2\x80\xae way\n")
        attacker.told = {}
        new = attacker.place / ".told.json"
        new.write_text("{}")
        new.rename(attacker.place / "told.json")
        sys.exit(code)
    attacker.over()


def never_says_so(attacker: Attacker) -> None:
    """Be asked whether a session is over, and never answer."""
    (attacker.place / "end").touch()
    attacker.stay()
