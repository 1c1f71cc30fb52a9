"""A guard's last words on a full disk: they stand in its report, whichever call fails first (reliability 14)."""

import errno
import json
import os
from pathlib import Path

import pytest

from pro0.guard import report
from pro0.guard.launch import Launch
from pro0.processes import table
from tests.crash.lanes import counted
from tests.faults import MUTATING, count, fail_with, fault_at, temporary_files

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def launched(folder: Path) -> report.ReportFile:
    """A report whose first words are written."""
    said = {
        "schemaVersion": 1,
        "agentId": "w1",
        "incarnation": "inc-w1",
        "team": "alpha",
        "teamUid": "uid",
        "argv": ["true"],
        "cwd": str(folder),
        "env": {},
        "report": str(folder / "inc-w1.json"),
    }
    made = report.ReportFile(Launch(said), table.entry(os.getpid()))
    made.write()
    return made


@pytest.mark.parametrize("code", FULL, ids=errno.errorcode.get)
def test_they_need_no_room(tmp_path: Path, code: int) -> None:
    """One error at each call, and a disk on which nothing new can be made."""
    calls = count(lambda: end(launched(tmp_path)), MUTATING)
    begun = len(count(lambda: launched(tmp_path), MUTATING))
    for number in range(begun + 1, len(calls) + 1):
        with fault_at(number, fail_with(code), MUTATING):
            end(launched(tmp_path))
        assert last_words(tmp_path) == ("shutdown", "ended: asked to"), calls[number - 1]
        assert temporary_files(tmp_path) == []
    made = launched(tmp_path)
    with fault_at(None, fail_with(code), ("rename",)):
        end(made)
    assert last_words(tmp_path) == ("shutdown", "ended: asked to")
    counted("test", "last words", errno.errorcode[code], len(calls) - begun + 1)


def end(made: report.ReportFile) -> None:
    """End as a guard does that was asked to."""
    made.ended("shutdown", None, 15, "ended: asked to")
    made.write(durable=True)


def last_words(folder: Path) -> tuple[str, str]:
    """What the report says of the end."""
    said = json.loads((folder / "inc-w1.json").read_bytes())
    return said["state"], said["exit"]["reason"]
