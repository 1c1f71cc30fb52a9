"""Record what a real agent shows and writes in a state; to be run in the box, which keeps the folder.

    python -m tools.agents.box --keep FOLDER .venv/bin/python -m tests.real_agents.record FOLDER AGENT STATE [80x20]

makes FOLDER/AGENT-STATE-80x20.txt, .ansi.txt and .meta.json, and in a folder of that name the agent's home (`home/`)
and what it asked of its model (`requests.json`).
"""

import json
import os
import shutil
import socket
import sys
from pathlib import Path

from pro0.scripted_model.server import Provider
from pro0.scripted_model.setups import SETUPS
from tests.real_agents.questions import QUESTIONS
from tests.real_agents.states import STATES, Stage
from tests.real_agents.terminal import Terminal

META = {
    "title": "pane_title",
    "command": "pane_current_command",
    "cursor_x": "cursor_x",
    "cursor_y": "cursor_y",
    "cursor_visible": "cursor_flag",
    "alternate": "alternate_on",
    "dead": "pane_dead",
}
EVERY_STATE = STATES | QUESTIONS
LARGEST = 1_000_000
"""Files of a home that are larger, such as programs that an agent unpacks, are left out."""


def record(to: Path, agent: str, state: str, columns: int, lines: int) -> Path:
    """Bring an agent into a state and keep what it shows and has written; return the file of its screen."""
    home, project = Path(os.environ["HOME"], f"{agent}-{state}"), Path(os.environ["HOME"], "project")
    home.mkdir()
    project.mkdir(exist_ok=True)
    terminal = Terminal(columns, lines)
    name = to / f"{agent}-{state}-{columns}x{lines}"
    with Provider().serving() as provider:
        setup = SETUPS[agent](provider.url, project)
        setup.write(home)
        os.environ.update(setup.environment, HOME=str(home))
        try:
            EVERY_STATE[state](Stage(agent, provider, project, terminal))
            _keep_screen(terminal, name)
            _keep_files(home, provider, name)
        finally:
            terminal.close()
    return name.with_name(f"{name.name}.txt")


def _keep_screen(terminal: Terminal, name: Path) -> None:
    said: dict[str, object] = {key: terminal.value(value) for key, value in META.items()}
    said["size"] = [terminal.columns, terminal.lines]
    texts = {"txt": terminal.screen(), "ansi.txt": terminal.screen(escapes=True), "meta.json": json.dumps(said) + "\n"}
    for ending, text in texts.items():
        name.with_name(f"{name.name}.{ending}").write_text(text, encoding="utf-8")


def _keep_files(home: Path, provider: Provider, name: Path) -> None:
    shutil.rmtree(name, ignore_errors=True)
    for path in home.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
            copy = name / "home" / path.relative_to(home)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    asked = [{"script": one.marker, "usage": vars(one.usage), "body": one.request.body} for one in provider.exchanges]
    (name / "requests.json").write_text(json.dumps(asked, indent=1, ensure_ascii=False), encoding="utf-8")


def main(words: list[str]) -> int:
    """Record one state of one agent; say where."""
    if [name for _, name in socket.if_nameindex()] != ["lo"] or len(words) not in {3, 4}:
        print(__doc__, file=sys.stderr)
        return 2
    to, agent, state, size = Path(words[0]).resolve(), *words[1:3], *(words[3:] or ["140x45"])
    if agent not in SETUPS or state not in EVERY_STATE:
        print(f"agents: {', '.join(SETUPS)}\nstates: {', '.join(EVERY_STATE)}", file=sys.stderr)
        return 2
    columns, lines = size.split("x")
    print(record(to, agent, state, int(columns), int(lines)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
