"""Desktop notices of terminals: the sequence that a terminal knows, chosen by its names."""

from collections.abc import Collection, Iterable, Mapping

from pro0.model.need import Need
from pro0.rules.text import digest, visible

BELL = "\a"
LONGEST = 200
"""The most characters of a notice."""
_KNOWN = (
    ("kitty", "99"),
    ("ghostty", "777"),
    ("wezterm", "777"),
    ("foot", "777"),
    ("rxvt", "777"),
    ("contour", "777"),
    ("iterm", "9"),
)
"""Part of a terminal's name, and the number of the sequence for notices that it knows."""


def rung(environment: Mapping[str, str], title: str, needs: Iterable[Need], already_rung: Collection[str]) -> str:
    """Return the bell and the desktop notices for the needs not rung before; `environment` tells the terminal."""
    new = [need for need in needs if need.id not in already_rung]
    names = [environment[name] for name in ("TERM", "TERM_PROGRAM", "LC_TERMINAL") if environment.get(name)]
    return "".join([BELL if new else "", *(sequence(names, title, need.sentence) for need in new)])


def sequence(names: Iterable[str], title: str, text: str) -> str:
    """Return the sequence that shows a notice on a terminal with these names, "" for a terminal without one."""
    folded = [name.casefold() for name in names]
    if any(name.startswith(("tmux", "screen")) for name in folded):  # it does not pass the sequence on
        return ""
    number = next((number for part, number in _KNOWN for name in folded if part in name), "")
    title, text = _plain(title), _plain(text)
    match number:
        case "99":
            id = f"pro0-{digest(text.encode())[:8]}"  # another notice of the same id would take its place
            return f"\x1b]99;i={id}:d=0:p=title;{title}\x1b\\\x1b]99;i={id}:d=1:p=body;{text}\x1b\\"
        case "777":
            return f"\x1b]777;notify;{title};{text}\x1b\\"
        case "9":
            return f"\x1b]9;{title}: {text}\x1b\\"
    return ""


def _plain(text: str) -> str:
    """Return a text without characters that end or separate the parts of a sequence, cut to LONGEST."""
    return " ".join(visible(text).split()).replace(";", ",")[:LONGEST]
