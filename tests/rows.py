"""What shows that pro0 does what is required of it: `make rows` counts the lines of rows.toml."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "rows.toml"
PAGE = ROOT / "docs" / "behaviour.md"
IDS = {"S000": 136, "S001": 189, "S002": 113, "S003": 35, "S004": 127, "AC": 95}
"""How many requirements each document has."""
COUNTED = re.compile(r"^Of the .* requirements .*$", re.MULTILINE)
"""The line of the page that `make rows` keeps up to date."""

Rows = Mapping[str, str | list[str]]


def ids() -> list[str]:
    """Return the id of every requirement, in order."""
    return [name(part, number) for part, many in IDS.items() for number in range(1, many + 1)]


def name(part: str, number: int) -> str:
    """Return the id of a requirement: S000-007, or AC-07."""
    return f"{part}-{number:02}" if part == "AC" else f"{part}-{number:03}"


def rows() -> Rows:
    """Return what each requirement rests on: its tests, `rule: NUMBER`, or `open: GAP`."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def kind(value: str | list[str]) -> str:
    """Return `shown`, `rule` or `open`; empty for what is none of them."""
    if isinstance(value, list):
        return "shown" if value else ""
    return next((word for word in ("rule", "open") if value.startswith(f"{word}: ")), "")


def counted(found: Rows) -> str:
    """Return the counts as one line."""
    many = Counter(map(kind, found.values()))
    return (
        f"Of the {len(found)} requirements that pro0 is held to, {many['shown']} are shown by tests, "
        f"{many['rule']} are replaced by a rule of this page, and {many['open']} are open."
    )


def gaps(found: Rows) -> list[tuple[str, int]]:
    """Return the open gaps by name, the largest first."""
    named = (value.removeprefix("open: ") for value in found.values() if isinstance(value, str))
    return Counter(gap for gap in named if not gap.startswith("rule: ")).most_common()


def main() -> None:
    """Print the counts and the gaps, and write the counts into the page."""
    found = rows()
    print(counted(found))
    for gap, many in gaps(found):
        print(f"{many:4} open: {gap}")
    PAGE.write_text(COUNTED.sub(counted(found), PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
