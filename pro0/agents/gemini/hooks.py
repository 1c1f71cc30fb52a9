"""The hooks of Gemini CLI: they repeat forgotten texts, and tell of mail after a tool and at a turn's end.

They also note the present conversation, since a person begins another one by `/clear`.

`python -I -m pro0.agents.gemini.hooks MAILBOX FOLDER`, the event as JSON on stdin, the session's identity in the
environment. No turn is interrupted for mail, since Gemini would forget the turn. Mail is announced with the result of
the next tool.
"""

import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0 import looking
from pro0.agents import turn_end
from pro0.agents.gemini import conversations
from pro0.agents.gemini.memory import (
    Confirmed,
    GivenTexts,
    forgotten,
    keep_left_out,
    load_confirmed,
    loaded,
    save_confirmed,
    unconfirmed_texts,
)
from pro0.decoding import decode
from pro0.model.message import Mailbox
from pro0.rules import mail
from pro0.rules.words import prompts

EVENTS = {"BeforeAgent": "", "AfterTool": "", "AfterAgent": "", "SessionStart": "clear"}
"""The events, each with the matcher for those we ask for; empty for all."""
TOLD = "told-after-tool"
"""The file in the session's folder with the seq of the newest message told of after a tool."""


class HookInput(msgspec.Struct):
    """The fields we read of a hook event."""

    hook_event_name: str = ""
    session_id: str = ""
    transcript_path: str = ""
    prompt: str = ""


def command(mailbox: str, folder: str) -> str:
    """Return the shell command of the hooks."""
    return shlex.join([sys.executable, "-I", "-m", __name__, mailbox, folder])


def answer(data: bytes, mailbox: Path, folder: Path, incarnation: str) -> bytes:
    """Return the output of a hook, empty for nothing to report."""
    try:
        event = decode(data, HookInput)
        box = decode(mailbox.read_bytes(), Mailbox) if looking.exists(mailbox) else Mailbox()
    except (OSError, msgspec.MsgspecError):
        return b""
    if event.hook_event_name in ("BeforeAgent", "SessionStart"):
        _note_conversation(event, folder)
    if event.hook_event_name == "SessionStart":
        return b""
    if event.hook_event_name == "BeforeAgent":
        return _begin(event, box, folder, incarnation, _sealed(mailbox))
    if event.hook_event_name == "AfterTool":
        return _after_tool(box, folder, incarnation)
    turn_end.keep_words(data, folder)
    with suppress(OSError):  # what cannot be read or noted must not hide new mail
        _note_what_is_known(event, box, folder, incarnation, _sealed(mailbox))
    return turn_end.answer(mailbox, folder, incarnation)


def _note_conversation(event: HookInput, folder: Path) -> None:
    """Note the present conversation, and remove the last words kept from an earlier one."""
    with suppress(OSError):  # a full disk must not stop the hook
        if conversations.note(folder, Path(event.transcript_path), anew=event.hook_event_name == "SessionStart"):
            (folder / turn_end.WORDS).unlink(missing_ok=True)


def _sealed(mailbox: Path) -> list[Path]:
    """Return the files with the older mail, the oldest first; they lie beside the mailbox."""
    return sorted((mailbox.parent / "archive").glob("*.json"))


def _begin(event: HookInput, box: Mailbox, folder: Path, incarnation: str, sealed: list[Path]) -> bytes:
    before, transcript = load_confirmed(folder), loaded(Path(event.transcript_path), event.session_id)
    if before is None:
        left_out = keep_left_out(folder, transcript)
        before = Confirmed(mail.given_up_to(box, incarnation))
        save_confirmed(folder, before)
        if not left_out:
            return b""
    unconfirmed = unconfirmed_texts(before, folder, box, incarnation, sealed)
    lost = forgotten(unconfirmed, transcript, event.prompt)
    return _context(event, prompts.forgotten(lost.prompt, lost.messages))


def _note_what_is_known(event: HookInput, box: Mailbox, folder: Path, incarnation: str, sealed: list[Path]) -> None:
    before = load_confirmed(folder)
    if before is None:
        return
    unconfirmed = unconfirmed_texts(before, folder, box, incarnation, sealed)
    if unconfirmed != GivenTexts() and forgotten(unconfirmed, Path(event.transcript_path)) == GivenTexts():
        save_confirmed(folder, Confirmed(mail.given_up_to(box, incarnation), prompt=True))


def _after_tool(box: Mailbox, folder: Path, incarnation: str) -> bytes:
    news = mail.news(box, incarnation)
    if news.newest <= turn_end.announced_seq(folder / TOLD):
        return b""
    (folder / TOLD).write_text(str(news.newest), encoding="ascii")
    return _context(HookInput(hook_event_name="AfterTool"), prompts.unread_line(news.count))


def _context(event: HookInput, text: str) -> bytes:
    output: Mapping[str, str] = {"hookEventName": event.hook_event_name, "additionalContext": text}
    return msgspec.json.encode({"hookSpecificOutput": output}) if text else b""


if __name__ == "__main__":
    with suppress(OSError):
        mailbox, folder = map(Path, sys.argv[1:])
        data = sys.stdin.buffer.read()
        sys.stdout.buffer.write(answer(data, mailbox, folder, os.environ.get("PRO0_INCARNATION", "")))
