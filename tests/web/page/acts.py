"""What people do on the page, with the tests that do it: `acts.toml`, read."""

import tomllib
from pathlib import Path

SCREENS: dict[str, dict[str, object]] = tomllib.loads(Path(__file__).with_name("acts.toml").read_text(encoding="utf-8"))
ACTS: dict[tuple[str, str], str] = {
    (screen, act): str(test) for screen, acts in SCREENS.items() for act, test in acts.items() if act != "requirements"
}
"""A screen and what is done there → the file and the name of the test."""
KEYS = "-keys"
"""How the size ends in which a test is done by keys alone."""


def is_for_nobody(file: str, test: str, size: object) -> bool:
    """Return True for a test by keys alone of what is no act of the documents."""
    return str(size).endswith(KEYS) and f"{file}::{test}" not in ACTS.values()
