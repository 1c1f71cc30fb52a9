"""What the lead hands to the client: lines of mail, answers to requests, and the order to stop a turn."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0.agents.acp.conversation import AcpConversation
from pro0.agents.bridge.reports import ANSWERS, INBOX
from pro0.decoding import decoder
from pro0.errors import EnvironmentMissing
from pro0.model.need import Choice

PIPE = "acp.pipe"
"""The named pipe in the session's folder by which the lead tells the client to look."""
STOP = "stop"
_LARGEST = 64 * 1024


class _Answer(msgspec.Struct):
    choice: Choice
    text: str = ""


_ANSWER = decoder(_Answer)


class LeadOrders:
    """Takes the lead's orders from the session's folder, each one once."""

    def __init__(self, folder: Path) -> None:
        """Raises EnvironmentMissing when the folders or the pipe cannot be made, as on a full disk."""
        self._folder = folder
        try:
            for place in (INBOX, ANSWERS):
                (folder / place).mkdir(mode=0o700, exist_ok=True)
            with suppress(FileExistsError):
                os.mkfifo(folder / PIPE, 0o600)
            # Open for reading and writing, so that the pipe does not end with the lead.
            self.descriptor = os.open(folder / PIPE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            hint = "free some room, then `pro0 member restart`"
            raise EnvironmentMissing(f"cannot make {error.filename}: {error.strerror}", hint=hint) from error

    def follow(self, conversation: AcpConversation) -> None:
        """Carry out all orders handed over since the last look."""
        with suppress(BlockingIOError):
            os.read(self.descriptor, _LARGEST)
        for _, text in self._taken(INBOX):
            conversation.prompt("mail", text.decode(errors="replace"))
        for name, text in self._taken(ANSWERS):
            with suppress(ValueError, msgspec.MsgspecError):
                answer = _ANSWER.decode(text)
                conversation.answer(bytes.fromhex(name).decode(), answer.choice, answer.text)
        with suppress(OSError):
            (self._folder / STOP).unlink()
            conversation.cancel()

    def _taken(self, place: str) -> Iterator[tuple[str, bytes]]:
        """Yield the files of a folder; each is removed first, so that none is handed over twice."""
        folder = self._folder / place
        with suppress(OSError):
            for name in sorted(os.listdir(folder)):
                path = folder / name
                with suppress(OSError):
                    text = path.read_bytes()[:_LARGEST]
                    path.unlink()
                    yield name, text


def ring(folder: str) -> None:
    """Tell the client of a session's folder to look for orders."""
    with suppress(OSError):
        descriptor = os.open(f"{folder}/{PIPE}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            os.write(descriptor, b".")
        finally:
            os.close(descriptor)
