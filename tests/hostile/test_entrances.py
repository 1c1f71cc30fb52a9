"""Names that are no names, at every entrance: exit 2, 3 or 4, and nothing is touched (check 29)."""

import random
from itertools import product
from pathlib import Path

import pytest

from tests.cli.conftest import Pro0, tree
from tests.crash.lanes import SOAK, TEST, counted
from tests.forks import forking
from tests.hostile.furnished import Furnished
from tests.hostile.names import BYTES, DISPLAY, NAMES, RESERVED

TEXTS = NAMES | {name: name for name in RESERVED}
TEAMS = ["team start --detach -- {}", "team status -- {}", "team status -t {}", "team cleanup -- {}", "team stop -- {}"]
TEAMS += ["team pause -- {}", "team unpause -- {}", "team resume -- {}", "team wait -- {}", "team logs -- {}"]
TEAMS += ["team attach -- {}", "task list -t {}", "task create x -t {}", "send human x -t {}", "broadcast x -t {}"]
TEAMS += ["inbox -t {}", "member list -t {}", "member spawn w9 -t {}", "shutdown approve -t {}", "lead -- {}"]
TEAMS += ["doctor -t {}", "doctor --repair -t {}", "member env w1 -t {}", "team cleanup --force -- {}"]
NEW = ["member spawn -- {}", "team start beta --detach --mode headless -m {}=shell"]
MEMBERS = [
    "member restart -- {}",
    "member show -- {}",
    "member peek -- {}",
    "member env -- {}",
    "member shutdown -- {}",
]
MEMBERS += ["send -- {} x", "task assign 1 -- {}", "task create x --assignee {}", "task list --assignee {}"]
TASKS = ["task show -- {}", "task claim -- {}", "task complete -- {}", "task fail -- {}", "task release -- {}"]
TASKS += ["task update --title x -- {}", "task cancel -- {}", "task reopen -- {}", "task delete --force -- {}"]
TASKS += ["task comment -- {} x", "task tree -- {}", "task create x --parent {}", "task create x --blocked-by {}"]
TASKS += ["task update 1 --add-dependency {}", "task update 1 --drop-dependency {}", "member env w1 --task {}"]
OTHERS = ["member spawn w9 --agent {}", "team start beta --lead {}", "team start beta --mode {}", "completion -- {}"]
OTHERS += ["config get -- {}", "task list --status {}", "task create x --type {}"]
ENTRANCES = [*TEAMS, *NEW, *MEMBERS, *TASKS, *OTHERS]
CODES = {2, 3, 4}
VARIABLES = ["PRO0_TEAM", "PRO0_AGENT_ID", "PRO0_INCARNATION", "PRO0_MEMBER_OF"]


def may_be(entrance: str, kind: str) -> bool:
    """Say whether an entrance may take this name, or has another meaning for it."""
    text = TEXTS[kind]
    if "{}" in entrance.split() and text == "" and entrance.startswith("task list --assignee"):
        return False
    if kind in DISPLAY and entrance in NEW:
        return True
    if entrance in TEAMS and kind in RESERVED:
        return True  # a team may be called so: its name is no address
    if entrance.endswith(("--assignee {}", "-- {} x", "1 -- {}")) and text.strip().lower() in ("lead", "human"):
        return True
    return entrance.endswith("-m {}=shell") and "=" in text


CASES = [case for case in product(ENTRANCES, TEXTS) if not may_be(*case)]


def refused(entrance: str, kind: str, pro0: Pro0, around: Path, before: dict[str, bytes]) -> None:
    words = [word.replace("{}", TEXTS[kind]) for word in entrance.split()]
    with forking():  # as a lead does at its start
        called = pro0(*words)
    assert called.code in CODES, (entrance, kind, called)
    assert "Traceback" not in called.err
    assert "internal error" not in called.err
    assert tree(around) == before, (entrance, kind)


@pytest.mark.usefixtures("scripts")
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_name_is_checked_at_every_entrance(entrance: str, pro0: Pro0, full: Furnished, tmp_path: Path) -> None:
    """29: some names at each; every name at each in the soak."""
    before = tree(tmp_path)
    kinds = [kind for kind in TEXTS if (entrance, kind) in set(CASES)]
    for kind in random.Random(entrance).sample(kinds, 3):
        refused(entrance, kind, pro0, tmp_path, before)
    counted(TEST, "names", entrance, 3)


@pytest.mark.soak
@pytest.mark.usefixtures("scripts")
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_name_is_checked_at_every_entrance(entrance: str, pro0: Pro0, full: Furnished, tmp_path: Path) -> None:
    """29"""
    before = tree(tmp_path)
    kinds = [kind for kind in TEXTS if not may_be(entrance, kind)]
    for kind in kinds:
        refused(entrance, kind, pro0, tmp_path, before)
    counted(SOAK, "names", entrance, len(kinds))


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_name_in_the_environment_is_checked(
    variable: str, pro0: Pro0, full: Furnished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """29: whoever sets an identity that is none changes nothing."""
    texts = NAMES | {"surrogate": BYTES["surrogate"]}
    before = tree(tmp_path)
    for kind in random.Random(variable).sample([*texts], 10):
        identity = {"PRO0_TEAM": "alpha", "PRO0_AGENT_ID": "w1", "PRO0_INCARNATION": "i"}
        identity["PRO0_MEMBER_OF"] = str(full.home)
        if texts[kind] == "" or (variable == "PRO0_INCARNATION" and texts[kind].isalnum()):
            continue
        for name, value in (identity | {variable: texts[kind]}).items():
            monkeypatch.setenv(name, value)
        for command in ("inbox", "task claim 2", "send human x", "task create x", "shutdown approve"):
            if variable == "PRO0_MEMBER_OF":
                continue  # an identity of another home is none: the caller is human
            called = pro0(*command.split())
            assert called.code in CODES, (kind, command, called)
            assert "internal error" not in called.err
        if variable == "PRO0_MEMBER_OF":
            assert "internal error" not in pro0("task", "list").err
    assert tree(tmp_path) == before


def test_the_table_is_large() -> None:
    assert len(NAMES) >= 80
    assert len(CASES) >= 4000
