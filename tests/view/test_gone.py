"""A member that goes while somebody looks at it, or is asked for when it has gone: what is typed reaches nobody."""

from pathlib import Path

from pro0.engine import outcomes
from pro0.engine.cleanup import cleanup
from pro0.model.task import Draft
from pro0.ops.tasks import trees
from tests.engine.crew import Crew
from tests.view.person import SECONDS, Person
from tests.view.test_driven import ATTACH, program
from tests.waiting import wait_until

KEEPS = """
import sys
print("here is", sys.argv[1], flush=True)
for line in sys.stdin:
    with open(sys.argv[2], "a") as kept:
        kept.write(line)
"""


def test_what_is_typed_for_one_that_is_gone_reaches_nobody_until_somebody_is_chosen(
    alpha: Crew, tmp_path: Path
) -> None:
    """No other member is shown in its place, and the board does not act on words either."""
    kept, over = tmp_path / "kept", tmp_path / "over"
    alpha.spawn(program("w1", KEEPS, str(kept)))
    (id,) = alpha.give(Draft(title="wait", run=f"until [ -e {over} ]; do sleep 0.1; done"))
    outcomes.begun(alpha.team, trees.start(alpha.context, id), alpha.shown.append)
    with Person(tmp_path, ATTACH) as person:
        person.sees("here is w1")
        person.press("S-Up")
        person.sees("until [ -e")
        person.type("hello worker ")
        over.touch()
        person.sees("t1 is gone")
        person.type("board")  # a b on the board would write to all
        person.press("Enter")
        person.press("C-t")
        person.sees("MEMBERS")
        person.press("f")
        person.sees("  task-1 ")
        person.press("End")
        person.sees(lambda rows: any(row.startswith("› task-1") for row in rows))
        person.press("Enter")
        person.sees("t1 is not there any more")
        person.type("board")
        person.press("Enter")
        person.press("S-Down")
        person.sees("here is w1")
        person.type("only this")
        person.press("Enter")
        wait_until(lambda: kept.exists() and kept.read_text(), SECONDS, "w1 gets what is typed for it")
    assert kept.read_text() == "only this\n"
    assert not alpha.mail("w1")


def test_no_key_is_lost_on_the_board_of_a_team_without_members(alpha: Crew, tmp_path: Path) -> None:
    """Ctrl+T leads back to a member that was shown: without one the board goes on taking the keys."""
    with Person(tmp_path, ATTACH) as person:
        person.sees("alpha · running")
        person.press("C-t", "?")
        person.sees("While a member is shown")


def test_who_looks_at_a_member_of_a_team_that_is_removed_is_told_how_to_leave(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn("w1")
    with Person(tmp_path, ATTACH) as person:
        person.sees("w1 idle")
        assert cleanup(alpha.store, "alpha", force=True, show=alpha.shown.append) == "alpha is removed"
        person.sees("the team alpha is removed: q leaves")
        person.press("q")
        person.is_back()
