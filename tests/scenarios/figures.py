"""Write the figures of the ways of working in docs/faults.md: between their markers, from counts that the tests left.

Run it as `python -m tests.scenarios.figures`. A figure is never typed: what no test has counted is shown as a dash.
"""

from tests.crash.figures import Row, put

BEGIN = "<!-- figures of ways of working: tests/scenarios/figures.py writes what follows -->"
END = "<!-- end of figures of ways of working -->"

ROWS = (
    Row(
        "a run is gone on with: no task runs twice or is forgotten, no agent is left",
        "`pro0 run`, its runner, its guard, the lead: SIGKILL at random moments, then `pro0 run` again",
        "kills",
        "kills of runs, plain",
        "scenarios/test_run_killed.py",
    ),
    Row(
        "the same with gates: each verdict counts once, each feedback is in the next prompt once",
        "`pro0 run` or the lead: SIGKILL while a person rejects each task twice and then approves it",
        "kills",
        "kills of runs, gated",
        "scenarios/test_run_killed.py",
    ),
    Row(
        "a supervised tree runs to its end: each subtask once, in its order, each reviewed once",
        "the lead: SIGKILL at random moments, in the soak under five parents with 20 subtasks each",
        "kills",
        "kills of the lead in a tree",
        "scenarios/test_trees.py",
    ),
    Row(
        "workers go on, each task runs once, is harvested and reported once",
        "the lead: SIGKILL at random moments, while ten workers at a time are started and harvested",
        "kills",
        "kills of leads of workers",
        "scenarios/test_dispatch.py",
    ),
    Row(
        "workers in worktrees of one repository do not cross: no failed worktree, all harvested and merged, of those "
        "that conflict it is said before, and nothing is half merged",
        "ten at once, each with a commit, and a file of the same name that is not saved",
        "workers",
        "workers in worktrees",
        "scenarios/test_dispatch.py",
    ),
    Row(
        "no commit and no unsaved file is lost, and git's own check of the repository is clean",
        "adds, merges, removals in random order, each in a process of its own, half of them killed with SIGKILL",
        "acts",
        "acts on worktrees",
        "test_worktrees.py",
    ),
    Row(
        "and how many of these were killed before their end",
        "the others had ended by that moment",
        "kills",
        "kills of acts on worktrees",
        "test_worktrees.py",
    ),
)


if __name__ == "__main__":
    put(BEGIN, ROWS, END)
