"""What a disk may show after power is lost: every call that changes it is recorded, then replayed in part.

The model, which is stricter than any file system that is known to us:

* The data of a file is there for certain once it was fsynced; before that it is whole, missing, zeroed or cut in half.
* An entry of a folder (made, renamed, removed) is there for certain once the folder was fsynced; until then any subset
  of the entries that are not certain may be there, whatever the order in which they were made. One rename is atomic.
* The power goes after any recorded call.

Subsets are bounded: all of them for up to FEW entries, else the first n for every n, all but one, only one, and RANDOM
others, seeded. The four states of data are tried for all uncertain files at once. Equal trees are looked at once.
"""

import os
import random
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from tests.crash.worlds import Tree

FEW = 5
RANDOM = 24
DATA: dict[str, Callable[[bytes], bytes]] = {
    "whole": lambda data: data,
    "missing": lambda _data: b"",
    "zeroed": lambda data: bytes(len(data)),
    "cut": lambda data: data[: len(data) // 2],
}
ROOT = 0
Entry = tuple[int, str]
"""A folder's number and a name in it."""


class Step(NamedTuple):
    """One change: entries that get a new target (None: removed), data of a file, or something that is certain now."""

    name: str
    entries: tuple[tuple[Entry, int | None], ...] = ()
    file: int = -1
    data: bytes = b""
    certain: int = -1


class Recorder:
    """Stands between the code under test and `os`, and notes what it does to files below one home."""

    def __init__(self, home: Path) -> None:
        self.steps: list[Step] = []
        self.start: dict[Entry, int] = {}
        self.files: dict[int, bytes] = {}
        self.folders: set[int] = {ROOT}
        self._numbers: dict[tuple[int, int], int] = {}
        self._real = {name: getattr(os, name) for name in self._PATCHED}
        self._know(home)

    _PATCHED = ("open", "write", "fsync", "rename", "unlink", "mkdir", "rmdir", "link")

    def record(self, act: Callable[[], object]) -> list[Step]:
        """Do it, and return what it did."""
        stands = {name: getattr(self, f"_{name}") for name in self._PATCHED}
        with patch.multiple(os, **stands):
            act()
        return self.steps

    def _know(self, home: Path) -> None:
        self._number(os.stat(home), ROOT)
        for base, folders, names in os.walk(home):
            above = self._number(os.stat(base))
            for name in folders:
                number = self._number(os.stat(os.path.join(base, name)))
                self.folders.add(number)
                self.start[above, name] = number
            for name in names:
                path = Path(base, name)
                number = self._number(path.stat())
                self.files[number] = path.read_bytes()
                self.start[above, name] = number

    def _number(self, status: os.stat_result, number: int | None = None) -> int:
        key = (status.st_dev, status.st_ino)
        if key not in self._numbers or number is not None:
            self._numbers[key] = number if number is not None else len(self._numbers) + 1_000_000 * len(self.steps)
        return self._numbers[key]

    def _new(self, status: os.stat_result) -> int:
        self._numbers.pop((status.st_dev, status.st_ino), None)
        self._numbers[status.st_dev, status.st_ino] = -1
        number = 1_000_000 + len(self.steps)
        self._numbers[status.st_dev, status.st_ino] = number
        return number

    def _entry(self, path: object, within: int | None) -> Entry:
        folder, name = os.path.split(os.fspath(path))  # type: ignore[call-overload]
        return self._number(os.stat(folder or ".", dir_fd=within)), name

    def _target(self, path: object, within: int | None) -> int:
        return self._number(os.stat(path, dir_fd=within, follow_symlinks=False))  # type: ignore[arg-type]

    def _open(self, path: object, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        fresh = bool(flags & os.O_CREAT) and not _is_there(path, dir_fd)
        descriptor: int = self._real["open"](path, flags, mode, dir_fd=dir_fd)
        if fresh:
            number = self._new(os.fstat(descriptor))
            self.steps.append(Step("create", ((self._entry(path, dir_fd), number),), number))
        return descriptor

    def _write(self, descriptor: int, data: bytes) -> int:
        written: int = self._real["write"](descriptor, data)
        self.steps.append(Step("write", (), self._number(os.fstat(descriptor)), bytes(data[:written])))
        return written

    def _fsync(self, descriptor: int) -> None:
        self._real["fsync"](descriptor)
        self.steps.append(Step("fsync", certain=self._number(os.fstat(descriptor))))

    def _rename(
        self, src: object, dst: object, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None
    ) -> None:
        number, old, new = self._target(src, src_dir_fd), self._entry(src, src_dir_fd), self._entry(dst, dst_dir_fd)
        self._real["rename"](src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self.steps.append(Step("rename", ((old, None), (new, number))))

    def _link(self, src: object, dst: object, *, src_dir_fd: int | None = None, **others: object) -> None:
        self._real["link"](src, dst, src_dir_fd=src_dir_fd, **others)
        within = others.get("dst_dir_fd")
        entry = self._entry(dst, within if isinstance(within, int) else None)
        self.steps.append(Step("link", ((entry, self._target(src, src_dir_fd)),)))

    def _unlink(self, path: object, *, dir_fd: int | None = None) -> None:
        self._removed("unlink", path, dir_fd)

    def _rmdir(self, path: object, *, dir_fd: int | None = None) -> None:
        self._removed("rmdir", path, dir_fd)

    def _removed(self, name: str, path: object, within: int | None) -> None:
        entry = self._entry(path, within)
        self._real[name](path, dir_fd=within)
        self.steps.append(Step(name, ((entry, None),)))

    def _mkdir(self, path: object, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        self._real["mkdir"](path, mode, dir_fd=dir_fd)
        number = self._new(os.stat(path, dir_fd=dir_fd))  # type: ignore[arg-type]
        self.folders.add(number)
        self.steps.append(Step("mkdir", ((self._entry(path, dir_fd), number),)))


class Disk:
    """What is certain, and what is not yet, as the steps are played."""

    def __init__(self, recorder: Recorder) -> None:
        self.folders = recorder.folders
        self.certain = dict(recorder.start)
        self.pending: list[Step] = []
        self.synced = dict(recorder.files)
        self.data = dict(recorder.files)

    def play(self, step: Step) -> None:
        if step.entries:
            self.pending.append(step)
        if step.file >= 0:
            self.data[step.file] = self.data.get(step.file, b"") + step.data
        if step.certain in self.folders:
            for one in [one for one in self.pending if any(where[0] == step.certain for where, _ in one.entries)]:
                _apply(self.certain, one)
                self.pending.remove(one)
        elif step.certain >= 0:
            self.synced[step.certain] = self.data.get(step.certain, b"")

    def states(self, dice: random.Random) -> Iterator[Tree]:
        """Yield the trees that a disk may show now."""
        for chosen in _subsets(len(self.pending), dice):
            entries = dict(self.certain)
            for index in chosen:
                _apply(entries, self.pending[index])
            for change in DATA.values():
                yield self._tree(entries, change)
                if all(self.synced.get(number) == data for number, data in self.data.items()):
                    break

    def _tree(self, entries: dict[Entry, int], change: Callable[[bytes], bytes]) -> Tree:
        found: Tree = {}
        inside: dict[int, list[tuple[str, int]]] = {}
        for (folder, name), number in entries.items():
            inside.setdefault(folder, []).append((name, number))
        left = [(ROOT, "")]
        while left:
            folder, where = left.pop()
            for name, number in inside.get(folder, []):
                if number in self.folders:
                    found[where + name] = None
                    left.append((number, f"{where}{name}/"))
                else:
                    data, synced = self.data.get(number, b""), self.synced.get(number)
                    found[where + name] = (
                        data if synced == data else (synced or b"") + change(data[len(synced or b"") :])
                    )
        return dict(sorted(found.items()))


def after_power_loss(recorder: Recorder, seed: str) -> Iterator[tuple[bool, int, Tree]]:
    """Yield every different tree that may be there: acknowledged by then, after which step, the tree."""
    disk, dice = Disk(recorder), random.Random(seed)
    seen: set[tuple[bool, int]] = set()
    for number, step in enumerate(recorder.steps, 1):
        disk.play(step)
        for found in disk.states(dice):
            done = number == len(recorder.steps)
            key = (done, hash(tuple(found.items())))
            if key not in seen:
                seen.add(key)
                yield done, number, found


def _apply(entries: dict[Entry, int], step: Step) -> None:
    for where, number in step.entries:
        if number is None:
            entries.pop(where, None)
        else:
            entries[where] = number


def _subsets(number: int, dice: random.Random) -> Iterator[tuple[int, ...]]:
    whole = tuple(range(number))
    if number <= FEW:
        for size in range(number + 1):
            yield from combinations(whole, size)
        return
    yield from (whole[:size] for size in range(number + 1))
    yield from (tuple(index for index in whole if index != left) for left in whole)
    yield from ((index,) for index in whole)
    yield from (tuple(sorted(dice.sample(whole, dice.randrange(number)))) for _ in range(RANDOM))


def _is_there(path: object, within: int | None) -> bool:
    try:
        os.stat(path, dir_fd=within, follow_symlinks=False)  # type: ignore[arg-type]
    except FileNotFoundError:
        return False
    return True
