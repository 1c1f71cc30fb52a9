"""Each scenario has its members on another machine too, or says why it cannot."""

import subprocess
import sys
from pathlib import Path

from tests.elsewhere import HOST
from tests.scenarios.conftest import SHORT

FOLDER = Path(__file__).parent
AT_HOME = {
    "test_acp.py": "an agent that speaks ACP is refused there",
    "test_demo.py": "the demo shows one machine, and asks for no other",
    "test_dispatch.py": "workers are started at home alone",
    "test_elsewhere.py": "this",
    "test_examples.py": "it types docs/howto/hosts.md, with a machine of its own",
    "test_newcomers.py": "it types pages that have no other machine",
    "test_permissions.py": "its stand-in asks by files of home; tests/e2e/test_permission_there.py has one that draws",
    "test_planned.py": "who must plan first is refused there",
    "test_run.py": "the runner of a run and its agents are at home",
    "test_run_killed.py": "likewise",
    "test_trees.py": "sessions for tasks are started at home alone",
    "test_tutorial.py": "the tutorial has no other machine",
}
"""The scenarios whose members are here alone, and why."""


def test_each_scenario_is_played_with_members_elsewhere_or_says_why_not() -> None:
    """Issue 19, must show 3."""
    collect = (sys.executable, "-m", "pytest", "--collect-only", "-m", "", "-p", "no:cacheprovider", str(FOLDER))
    done = subprocess.run(collect, capture_output=True, text=True, cwd=FOLDER.parents[1])
    found = [line for line in done.stdout.splitlines() if f"@{HOST}" in line]
    played = {Path(line.partition("::")[0]).name for line in found}
    assert {path.name for path in FOLDER.glob("test_*.py")} == {*played, *AT_HOME}, done.stdout[-2000:] + done.stderr
    assert not played & AT_HOME.keys()
    assert [pair for pair in SHORT if not any(f"::{pair[0]}[" in line and pair[1] in line for line in found)] == []
