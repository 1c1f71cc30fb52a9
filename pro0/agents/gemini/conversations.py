"""The conversations of one running Gemini CLI: `/clear` begins another one, and `/resume` goes on with an earlier one.

The hooks note the id that stands in their transcript. The id they are given is another one after a change of models,
and names no transcript then.
"""

import os
from pathlib import Path

import msgspec

from pro0.agents.gemini.memory import session_of
from pro0.agents.transcripts import value
from pro0.decoding import decoder

FILE = "conversations.json"
"""The file in the session's folder with the ids, the present one as the last."""
MOST = 64
"""The most ids kept; the newest count."""
_IDS = decoder(tuple[str, ...])


def known(folder: str | Path) -> tuple[str, ...]:
    """Return the ids of all conversations so far, none where no hook has noted any; an empty id is an unknown one."""
    return (value(Path(folder, FILE), _IDS) or ()) if folder else ()


def note(folder: Path, transcript: Path, *, anew: bool = False) -> bool:
    """Note the conversation of a transcript, begun anew or not; return True when there was another one before."""
    before, now = known(folder), session_of(transcript)
    if not now or before[-1:] == (now,):
        return False
    before = before or ("",) * anew
    new = folder / f"{FILE}.{os.getpid()}"
    new.write_bytes(msgspec.json.encode((*before, now)[-MOST:]))
    new.replace(folder / FILE)
    return bool(before)
