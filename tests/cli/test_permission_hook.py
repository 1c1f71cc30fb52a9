"""The hook that asks the person what Claude Code asks in its pane, as a process below a member's guard."""

import json
import sys
from pathlib import Path

from pro0.model.runtime import State
from pro0.ops.context import new_id
from tests.ops.guarded import below_its_guard
from tests.teams import make_team, set_state

EVENT = {"tool_name": "Bash", "tool_input": {"command": "make"}}
CLAUDE = """
state="$CLAUDE_CONFIG_DIR/sessions/$$.json"
while sleep 1; do
    echo '{"status": "waiting"}' > "$state"
    sleep 1
    echo '{"status": "idle"}' > "$state"
done &
printf '%s' "$1" | "$0" -m pro0 member permission-hook
kill $!
"""
"""A Claude Code whose person presses Esc in each dialog, which leaves the hook of the first one alone."""


def test_a_request_that_was_refused_in_the_pane_is_over(home: Path, tmp_path: Path) -> None:
    """Issue 17, must show 2: else the next dialog would be shown with the words of this one."""
    team = make_team(home, "w1")
    set_state(team, "w1", State.WAITING, incarnation=new_id())
    (tmp_path / "sessions").mkdir()
    shell = ["sh", "-c", CLAUDE, sys.executable, json.dumps(EVENT)]
    done = below_its_guard(team, "w1", shell, {"CLAUDE_CONFIG_DIR": str(tmp_path)})
    assert (done.out, done.err) == ("", "")
    [request] = team.permissions.read().requests
    assert (json.loads(request.input), request.outcome) == ({"command": "make"}, "elsewhere")
