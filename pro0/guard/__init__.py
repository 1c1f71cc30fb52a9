"""The guard: the program in every pane. It starts one agent, reports on it, and ends its whole tree.

The guard reads its launch file and removes it. It writes the session's report, and nobody else writes that file. It
starts the agent as its child, in its own process group, so a person's typing reaches the agent. Then it waits without
polling for four events: the agent's end, the agent's report on its state, TERM (from the lead) or HUP (the
pane is gone). Without a pane, the guard makes the terminal too (`terminal.py`); the agent then leads a session there.

An end is reported in two steps. At the agent's death the report says so, with the kind of end, so the lead sees it at
once. Then the guard ends everything the agent left behind: all descendants, all processes with this session's mark,
and all in the terminal's session. On Linux orphans come to the guard, a child subreaper. On a system without marks,
the incarnation in the environment replaces the mark. This step can take the grace.

Afterwards the report is written once more, durably, and the guard exits with the agent's code. So `exit` in the report
proves the agent's end, and the guard's own end proves the tree's. A killed guard (SIGKILL) leaves marked processes
behind, and the lead finds them.

Fifty guards may start at once on a small machine, so the way to a running agent imports almost nothing. It avoids
json, signal, ctypes and pathlib. It uses the C modules below them, each in one place, with the public module as a
fallback.
"""
