"""Key bindings: Shift and an arrow go to the member they point at, only in a team's windows."""

from collections.abc import Iterable

from pro0.sessions.tmux.script import WINDOW, Command

_OURS = f"#{{!=:#{{{WINDOW}}},}}"  # compared with "", since if-shell takes a text beginning with 0 for false
KEYS = {
    f"S-{arrow}": f'if-shell -F "#{{==:#{{window_panes}},1}}" {window} "select-pane -Z -{arrow[0]}"'
    for window, arrows in (("next-window", ("Down", "Right")), ("previous-window", ("Up", "Left")))
    for arrow in arrows
}
"""Each key goes to the pane that it points at; from a window with one pane, to the next or previous window."""
LIST: Command = ("list-keys", "-T", "root")
"""Prints the key bindings."""


def bindings(listed: Iterable[str] = ()) -> list[Command]:
    """Return the commands to bind the keys nobody else has bound; in other windows these keys keep their meaning."""
    taken = {key for key, ours in _bound(listed) if not ours}
    return [
        ("bind-key", "-n", key, "if-shell", "-F", _OURS, go, f"send-keys {key}")
        for key, go in KEYS.items()
        if key not in taken
    ]


def releases(listed: Iterable[str]) -> list[Command]:
    """Return the commands to give back our keys."""
    return [("unbind-key", "-n", key) for key, ours in _bound(listed) if ours and key in KEYS]


def _bound(listed: Iterable[str]) -> Iterable[tuple[str, bool]]:
    """Yield each bound key, with True when pro0 has bound it."""
    for text in listed:
        words = text.split()
        if words[:1] == ["bind-key"] and "root" in words:
            yield words[words.index("root") + 1], WINDOW in text
