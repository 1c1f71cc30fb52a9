"""The line of a tmux script that pastes a text into a pane, unless a person types there."""

import time
from itertools import count

from pro0.model.runtime import Handle
from pro0.sessions.backend import quiet
from pro0.sessions.tmux.script import TYPED, block, line, typed_since

_BLOCKED = "#{?pane_in_mode,#{?#{||:#{==:#{pane_mode},copy-mode},#{==:#{pane_mode},view-mode}},0,1},#{pane_input_off}}"
_BUFFERS = count()


def paste(handle: Handle, text: str, how: str, looked: float | None) -> str:
    """Return the line to leave copy mode and paste a text; the text is never typed, and `ps` never sees it.

    The server does nothing else during one line, so no key of a person comes between check and paste.
    """
    typed = typed_since(handle.pane, time.time() - quiet(looked))
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
    return line(
        ("set-buffer", "-b", buffer, "--", text),
        ("paste-buffer", how, "-d", "-b", buffer, "-t", handle.pane),
        ("display-message", "-p", "sent"),
    )
