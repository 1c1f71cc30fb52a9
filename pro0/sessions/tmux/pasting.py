"""The line of a tmux script that pastes a text into a pane, unless a person types there."""

import time
from itertools import count

from pro0.model.runtime import Handle
from pro0.sessions.backend import quiet
from pro0.sessions.tmux.script import TYPED, Command, at_least, block, line, typed_since, word

_BLOCKED = "#{?pane_in_mode,#{?#{||:#{==:#{pane_mode},copy-mode},#{==:#{pane_mode},view-mode}},0,1},#{pane_input_off}}"
_BUFFERS = count()
UNTOUCHED = at_least(3, 7)
"""The condition "paste-buffer takes -S": such a server pastes Escape as the two letters `^[` without -S."""


def paste(handle: Handle, text: str, how: str, looked: float | None) -> str:
    """Return the line to leave copy mode and paste a text. The text is not sent as keys, and `ps` never shows it.

    The server does nothing else during one line, so no key of a person comes between check and paste.
    """
    now = time.time()
    typed = typed_since(handle.pane, now - quiet(looked), now)
    return _unless(f"#{{||:{_BLOCKED},{typed}}}", handle, _put_in(handle, text, how))


def typed(handle: Handle, text: str) -> str:
    """Return the line that types for a person elsewhere, and notes the time as their keys do."""
    note = line(("set-option", "-p", "-t", handle.pane, TYPED, str(int(time.time()))))
    return _unless(_BLOCKED, handle, f"{note} ; {_put_in(handle, text, '-r')}")


def _unless(blocked: str, handle: Handle, put_in: str) -> str:
    pane = handle.pane
    leave = block("#{pane_in_mode}", pane, line(("send-keys", "-t", pane, "-X", "cancel")))
    return block(blocked, pane, line(("display-message", "-p", "blocked")), f"{leave} ; {put_in}")


def _put_in(handle: Handle, text: str, how: str) -> str:
    buffer = f"pro0-{handle.incarnation}-{next(_BUFFERS)}"
    pasted: Command = (how, "-d", "-b", buffer, "-t", handle.pane)
    sent: Command = ("display-message", "-p", "sent")
    # In quotes, not in braces: an older server refuses the whole line for a flag that it does not know.
    as_it_is, plain = (word(line(("paste-buffer", *flags, *pasted), sent)) for flags in (("-S",), ()))
    return f"{line(('set-buffer', '-b', buffer, '--', text))} ; if-shell -F {word(UNTOUCHED)} {as_it_is} {plain}"
