"""Write the figures of whole teams in docs/faults.md: between their markers, from the counts that the tests left.

Run it as `python -m tests.soak.figures`. A figure is never typed: what no test has counted is shown as a dash.
"""

from tests.crash.figures import Row, put

BEGIN = "<!-- figures of teams: tests/soak/figures.py writes what follows -->"
END = "<!-- end of figures of teams -->"

ROWS = (
    Row(
        "no process outlives its team",
        "lead KILL TERM HUP INT, shutdown, stop, kill-session, kill-pane, server KILL, panes closed in iTerm2, guards "
        "KILL, agents end or are killed: each with a plain child, nohup, setsid, double fork, a child's child, one "
        "deaf to TERM; in the soak in every mode",
        "ends",
        "orphans",
        "scenarios/test_orphans.py",
    ),
    Row(
        "a line about mail reaches its pane and no other: every byte is recorded",
        "look-alike and prefix names, base-index 1, grouped sessions, panes moved, joined, zoomed, synchronised, the "
        "same tag elsewhere",
        "lines, 0 bytes elsewhere",
        "nudges",
        "hostile/test_panes.py",
    ),
    Row(
        "a pane that is another's now gets no line",
        "another program in the pane, a new server with the same ids",
        "lines refused",
        "stale nudges",
        "hostile/test_panes.py",
        long=False,
    ),
    Row(
        "nobody else is touched, and no `#(…)` runs",
        "a team inside a person's tmux: its panes, another server, another home's team of that name and processes "
        "that look like ours are the same after every command from start to cleanup and `doctor --repair`",
        "commands",
        "bystanders",
        "e2e/test_bystanders.py",
        long=False,
    ),
    Row(
        "a lead goes on, whatever stands in the place of its files",
        "a pipe and a folder in the place of every file and folder of a team at work, one after the other",
        "places",
        "odd things under a lead",
        "e2e/test_odd_things.py",
    ),
    Row(
        "who fills the disk is ended, and endings by force need none: nobody is left or comes back, the claim is given "
        "back, and the end is recorded as what it was when there is room",
        "`member shutdown`, `team stop` and `team cleanup`, each with `--force`, on a tmpfs whose bytes or inodes a "
        "member takes and goes on taking, headless and in tmux",
        "endings",
        "endings on a full disk",
        "scenarios/test_full_disk.py",
    ),
    Row(
        "a lead that can write no more ends a member, or all, all the same, and records it once there is room",
        "ENOSPC and EDQUOT at the n-th write of an ending and at all that follow",
        "endings",
        "endings of a lead",
        "scenarios/test_full_disk.py",
    ),
    Row(
        "a guard's last words stand in its report",
        "ENOSPC, EDQUOT, EROFS and EIO at each call that writes them",
        "injections",
        "last words",
        "guard/test_last_words.py",
        long=False,
    ),
    Row(
        "one lead again, never two; nothing lost, nobody restarted",
        "the lead killed at random under load, while stopping, while cleaning",
        "kills",
        "lead kills",
        "scenarios/test_lead_killed.py",
    ),
    Row(
        "until the next lead leads, at most",
        "the same; the machine was busy with other things",
        "ms",
        "slowest lead",
        "scenarios/test_lead_killed.py",
    ),
    Row(
        "who has the pid of a process of ours now is not signalled for it",
        "a team killed whole; strangers at the very pids of its lead, guards and agents; then every command",
        "strangers",
        "strangers",
        "scenarios/test_strangers.py",
    ),
    Row(
        "a clock that jumps ends nobody",
        "a day on and back, under a team at work",
        "jumps",
        "jumps",
        "scenarios/test_time.py",
        long=False,
    ),
    Row(
        "all stopped and continued, as by a lid: nobody restarted, the same lead",
        "SIGSTOP to lead, guards, agents and what they run, for 3 s; in the soak 20 s",
        "suspends",
        "suspends",
        "scenarios/test_time.py",
    ),
    Row(
        "a stopped holder of a lock is given up after 10 s and named",
        "the locks of home, team, tasks and a mailbox",
        "holders",
        "stopped holders",
        "scenarios/test_held.py",
        long=False,
    ),
    Row(
        "killed inside start, spawn, stop, cleanup: the next command finishes or undoes it, and after a cleanup files, "
        "processes, tmux, ports, refs and worktrees are what they were",
        "SIGKILL of the command, or of the lead, before each call that others can see",
        "steps",
        "steps",
        "scenarios/test_steps.py",
    ),
    Row(
        "ten members at work survive whatever happens: every acknowledged task done once or accounted for by a death, "
        "every message there once and read, no orphan, one lead, its memory and open files flat",
        "one fault every two seconds: agents, guards, lead, tmux server killed or stopped, all suspended, documents "
        "corrupt, runtime.json lost and repaired, files that may not grow, locks deleted, commands killed",
        "faults",
        "soak faults",
        "soak/test_soak.py",
    ),
    Row(
        "the last lead's memory at its end, beyond that at its beginning",
        "USS, every two seconds; in the second half no lead is killed, so that one lives for all of it",
        "KiB more",
        "lead growth",
        "soak/test_soak.py",
    ),
    Row("its open files likewise", "the same", "more", "lead files", "soak/test_soak.py"),
    Row("for how long", "another time: SOAK_SECONDS", "s", "soak seconds", "soak/test_soak.py"),
    Row("tasks in that time", "given to its members", "tasks", "soak tasks", "soak/test_soak.py"),
    Row("messages in that time", "sent to them by a person", "messages", "soak mail", "soak/test_soak.py"),
)


if __name__ == "__main__":
    put(BEGIN, ROWS, END)
