"""The conversations of one running Gemini CLI: `/clear` begins another one, and `/resume` goes on with an earlier one.

The hooks note the id in the transcript. After a change of models the id in a hook's event is another one, and belongs
to no transcript.
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
    """Return the ids of all conversations noted by the hooks; an empty id stands for an unknown conversation."""
    return (value(Path(folder, FILE), _IDS) or ()) if folder else ()


def note(folder: Path, transcript: Path, *, anew: bool = False) -> bool:
    """Note the conversation of a transcript; return True when another one came before, perhaps unnoted (`anew`)."""
    before, now = known(folder), session_of(transcript)
    if not now or before[-1:] == (now,):
        return False
    before = before or ("",) * anew
    new = folder / f"{FILE}.{os.getpid()}"
    new.write_bytes(msgspec.json.encode((*before, now)[-MOST:]))
    new.replace(folder / FILE)
    return bool(before)
