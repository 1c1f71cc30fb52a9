"""What became of each mutant, in the files in which mutmut keeps it beside the mutated code."""

import json
from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

KILLED, LIVES, NO_TEST, REFUSED = 1, 0, 33, 37
"""mutmut's own numbers; any other is the signal that ended the tests, which is as good as a failure."""
TYPED = -1
"""It fits its types, and no test has been run against it yet."""
OPEN = (None, TYPED, LIVES, NO_TEST)
"""Of these it is worth finding out again, since there may be a new test."""


class Mutant(NamedTuple):
    """One mistake: in which file, under which name, and how the run against it ended."""

    file: str
    name: str
    code: int | None

    @property
    def kind(self) -> str:
        """What counts: untried, refused, lives, killed."""
        return {None: "untried", TYPED: "untried", REFUSED: "refused", LIVES: "lives", NO_TEST: "lives"}.get(
            self.code, "killed"
        )


class Verdicts:
    """All mutants below a folder that holds the mutated code."""

    def __init__(self, place: Path) -> None:
        self._files: dict[Path, dict[str, Any]] = {
            path: json.loads(path.read_bytes()) for path in sorted(place.glob("pro0/**/*.meta"))
        }
        self._place = place
        self._where = {name: path for path, file in self._files.items() for name in file["exit_code_by_key"]}

    def __iter__(self) -> Iterator[Mutant]:
        for name, path in self._where.items():
            file = str(path.relative_to(self._place)).removesuffix(".meta")
            yield Mutant(file, name, self._files[path]["exit_code_by_key"][name])

    def untried(self, patterns: Collection[str] = ()) -> list[str]:
        """Return those that are worth trying, or all that fit a pattern and are no nonsense, in order."""
        fits = [one for one in self if not patterns or any(fnmatch(one.name, pattern) for pattern in patterns)]
        return [one.name for one in fits if one.code in OPEN or (patterns and one.code != REFUSED)]

    def put(self, name: str, code: int) -> None:
        """Write down how a run ended."""
        path = self._where[name]
        self._files[path]["exit_code_by_key"][name] = code
        path.write_text(json.dumps(self._files[path], indent=4))
