"""An agent on another machine: how a shell there starts it, and what that machine reports of it.

Such a shell gets nothing but argv. The contents of files go there in argv, and the shell writes them into the
session's folder there.

The agent's own files are read on that machine. The result is kept at home in the session's folder (`link/agent.py`).
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from pro0.agents.adapter import Adapter, Memory, SessionView
from pro0.agents.transcripts import value
from pro0.decoding import decoder
from pro0.model.runtime import State
from pro0.model.screen import LastWords, Reading

FOLDER = "$PRO0_HOSTED"
"""The folder of a session there, as that shell knows it."""
SAID = "said.json"
"""The file at home with the report of that machine."""
EARLIER = "conversations.json"
"""The file there with the conversations of a session before its present one."""
_FILES = f"""
umask 077
until [ "$1" = -- ]; do printf %s "$2" >"{FOLDER}/$1" || exit 73; shift 2; done
shift
"""


class SaidThere(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The report on an agent by its own files there: its state, None for unknown, its conversation, its last words."""

    state: State | None = None
    source: str = ""
    rule: str = ""
    note: str = ""
    session: str = ""
    words: LastWords | None = None


_SAID = decoder(SaidThere)


def installed(program: str) -> str:
    """Return the line of a script that ends it with an error when the program is not installed."""
    return f'command -v {program} >/dev/null || {{ echo "cannot start {program}: it is not installed here"; exit 69; }}'


def started(program: str, line: str, files: Mapping[str, str], *words: str) -> tuple[str, ...]:
    """Return the command that writes these files, and becomes the program.

    `line` is the script's last line. In it `"$@"` stands for the words, and FOLDER/NAME for a file.
    """
    file_arguments = [part for name, text in files.items() for part in (name, text)]
    return ("/bin/sh", "-c", f"{installed(program)}{_FILES}{line}\n", program, *file_arguments, "--", *words)


def look(adapter: Adapter) -> Callable[[SessionView, Memory], Reading | None]:
    """Return the function to read an agent's state at home: only states from the adapter's own sources count."""
    sources = {"transcript", *(words.source for words in adapter.words)}

    def read(session_view: SessionView, _memory: Memory) -> Reading | None:
        news = _said(session_view)
        if news.state and news.source in sources:
            return Reading(state=news.state, source=news.source, rule=news.rule, note=news.note, session=news.session)
        # No source tells its state, and only its conversation is known.
        return Reading(state=State.UNKNOWN, source="process", session=news.session) if news.session else None

    return read


def last_words(session_view: SessionView, _memory: Memory) -> LastWords | None:
    """Return the last words that the agent's transcript there tells, None for none."""
    return _said(session_view).words


def _said(session_view: SessionView) -> SaidThere:
    return value(Path(session_view.folder, SAID), _SAID) or SaidThere()
