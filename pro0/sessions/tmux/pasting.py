"""The line of a tmux script that pastes a text into a pane where no person types."""

import time
from itertools import count

from pro0.model.runtime import Handle
from pro0.sessions.backend import quiet
from pro0.sessions.tmux.script import block, line, typed_since

_BLOCKED = "#{?pane_in_mode,#{?#{||:#{==:#{pane_mode},copy-mode},#{==:#{pane_mode},view-mode}},0,1},#{pane_input_off}}"
_BUFFERS = count()


def paste(handle: Handle, text: str, how: str, looked: float | None) -> str:
    """Return the line to leave copy mode and paste a text; the text is never typed, and `ps` never sees it.

    The server does nothing else during one line, so no key of a person comes between check and paste.
    """
    buffer, pane = f"pro0-{handle.incarnation}-{next(_BUFFERS)}", handle.pane
    leave = block("#{pane_in_mode}", pane, line(("send-keys", "-t", pane, "-X", "cancel")))
    put_in = line(
        ("set-buffer", "-b", buffer, "--", text),
        ("paste-buffer", how, "-d", "-b", buffer, "-t", pane),
        ("display-message", "-p", "sent"),
    )
    blocked = f"#{{||:{_BLOCKED},{typed_since(pane, time.time() - quiet(looked))}}}"
    return block(blocked, pane, line(("display-message", "-p", "blocked")), f"{leave} ; {put_in}")
