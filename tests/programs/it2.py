"""A stand-in for `it2` that keeps real state: every session is a pane of a tmux server, with a shell in it.

It takes what the real one takes (0.2.3) and nothing else, says what that says, and writes down every call. The folder
that IT2_STATE names has the server's socket, `calls`, `broken`, whose text it fails with as without a connection, and
`lacks`, a command that it does not know.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

STATE = os.environ.get("IT2_STATE", "")
NAME = "#{?@it2_name,#{@it2_name},#{pane_title}}"
"""From tmux 3.8 on a title's backslashes are two each, and an option's are as they were given."""
PID = "#{?pane_pid,#{pane_pid},#{@it2_pid}}"
"""From tmux 3.8 on a pane whose program has ended has none."""
LIST = f"#{{@it2}}\t{NAME}\t#{{pane_tty}}\t#{{pane_height}}\t#{{pane_width}}\t#{{window_id}}"
Options = dict[str, str]


def fail(what: str, code: int) -> NoReturn:
    print(f"Error: {what}", file=sys.stderr)
    sys.exit(code)


def tmux(*words: str) -> str:
    """Return what tmux says; not by subprocess, whose import takes as long as all else here."""
    server = ("tmux", "-u", "-S", f"{STATE}/socket", "-f", "/dev/null")
    reading, writing = os.pipe()
    streams = [(os.POSIX_SPAWN_DUP2, writing, stream) for stream in (1, 2)]
    pid = os.posix_spawnp("tmux", [*server, *words], os.environ, file_actions=streams)
    os.close(writing)
    with open(reading, encoding="utf-8") as answer:
        said = answer.read()
    if os.waitpid(pid, 0)[1]:
        fail(said.strip(), 3)
    return said.removesuffix("\n")


def pane(session: str | None) -> str:
    rows = [row.split() for row in tmux("list-panes", "-a", "-F", "#{pane_id} #{@it2}").splitlines()]
    found = next((row[0] for row in rows if row[1:] == [session]), None)
    if session is None or found is None:
        fail(f"Session '{session}' not found", 3)
    return found


def listed(options: Options) -> None:
    import json  # late, as all that one call in ten needs: a test makes dozens of them

    keys = ("id", "name", "tty", "rows", "cols", "window_id")
    rows = [dict(zip(keys, row.split("\t"), strict=True)) for row in tmux("list-panes", "-a", "-F", LIST).splitlines()]
    numbers = [{"rows": int(row["rows"]), "cols": int(row["cols"]), "title": row["name"]} for row in rows]
    more = {"is_tmux": False, "tab_id": "1"}
    print(json.dumps([row | number | more for row, number in zip(rows, numbers, strict=True)]))


def split(options: Options) -> None:
    how = "-h" if "-v" in options else "-v"
    made = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", how, "-t", pane(options.get("-s")))
    import uuid

    name = str(uuid.uuid4()).upper()
    its = ("-p", "-t", made)
    tmux("set-option", *its, "@it2", name, ";", "set-option", "-F", *its, "@it2_pid", "#{pane_pid}")
    print(f"Created new pane: {name}")


def send(options: Options, text: str) -> None:
    numbers = [f"{byte:02x}" for byte in os.fsencode(text)]  # a pasted Escape is two letters from tmux 3.7 on
    tmux("send-keys", "-t", pane(options.get("-s")), "-H", *numbers)


def read(options: Options) -> None:
    print(tmux("capture-pane", "-p", "-t", pane(options.get("-s"))))


def capture(options: Options) -> None:
    past = ("-S", "-") if "--history" in options else ()
    with open(options["-o"], "w", encoding="utf-8") as file:
        file.write(tmux("capture-pane", "-p", *past, "-t", pane(options.get("-s"))))
    print(f"Screen captured to: {options['-o']}")


def set_name(options: Options, name: str) -> None:
    tmux("set-option", "-p", "-t", pane(options.get("-s")), "@it2_name", name)
    print(f"Session name set to: {name}")


def set_var(options: Options, variable: str, value: str) -> None:
    if not variable.startswith("user."):
        fail("only user variables can be set", 1)
    tmux("set-option", "-p", "-t", pane(options.get("-s")), f"@{variable.replace('.', '_')}", value)
    print(f"Set {variable} = {value}")


def get_var(options: Options, variable: str) -> None:
    known = PID if variable == "pid" else f"#{{@{variable.replace('.', '_')}}}"
    value = tmux("display-message", "-p", "-t", pane(options.get("-s")), known)
    print(value or f"Variable '{variable}' not set")


def focus(options: Options, session: str) -> None:
    tmux("select-pane", "-t", pane(session))
    print(f"Focused session: {session}")


def close(options: Options) -> None:
    if "-f" not in options:
        fail("it would ask a person", 1)
    tmux("kill-pane", "-t", pane(options.get("-s")))
    print("Session closed")


COMMANDS: dict[str, tuple[Callable[..., None], tuple[str, ...], tuple[str, ...]]] = {
    "list": (listed, ("--json",), ()),
    "split": (split, ("-v",), ("-s", "-p")),
    "send": (send, (), ("-s",)),
    "read": (read, (), ("-s", "-n")),
    "capture": (capture, ("--history",), ("-s", "-o")),
    "set-name": (set_name, (), ("-s",)),
    "set-var": (set_var, (), ("-s",)),
    "get-var": (get_var, (), ("-s",)),
    "focus": (focus, (), ()),
    "close": (close, ("-f",), ("-s",)),
}
"""What does it, its flags, and its options that take a value."""


def lacking() -> str:
    try:
        with open(f"{STATE}/lacks") as lacks:
            return lacks.read()
    except FileNotFoundError:
        return ""


def main(group: str, command: str, *words: str) -> None:
    if group != "session" or command not in COMMANDS or command == lacking():
        fail(f"No such command {group} {command}", 2)
    do, flags, valued = COMMANDS[command]
    options: Options = {}
    arguments: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            arguments += left
            break
        if word in valued:
            options[word] = left.pop(0)
        elif word in flags:
            options[word] = ""
        elif word.startswith("-"):
            fail(f"No such option: {word}", 2)
        else:
            arguments.append(word)
    do(options, *arguments)


if __name__ == "__main__":
    with open(f"{STATE}/calls", "a") as calls:
        calls.write(f"{sys.argv[1:]}\n")
    if os.path.exists(f"{STATE}/broken"):
        with open(f"{STATE}/broken") as broken:
            fail(broken.read(), 2)
    main(*sys.argv[1:])
