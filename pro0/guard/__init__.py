"""The guard: the program in every pane. It starts one agent, reports on it, and ends its whole tree.

It reads its launch file and removes it; writes the session's report, which nobody else writes; starts the agent as its
child, in its own process group, so that what a person types reaches the agent; and then waits, without polling, for
the agent's end, the agent's word on its own state, TERM (the lead) or HUP (the pane is gone). Where no pane shows it,
the guard makes the terminal too (`terminal.py`): then the agent leads a session of its own there.

An end is reported in two steps. The moment the agent is dead the report says so, with how it ended, so that the lead
sees a death at once. Then everything the agent left behind is ended: all descendants (on Linux orphans come to the
guard, a child subreaper), all that carries this session's mark (where there are no marks:
its incarnation in the environment), all in the session of the terminal.
That can take the grace; when it is done the report is written once more, durably, and the guard exits with the agent's
code. So: `exit` in the report proves the agent's end, the guard's own end proves the tree's. A guard that could not do
it (SIGKILL) leaves processes with the mark, which the lead finds.

Fifty guards start at once on a small machine, so the way to a running agent imports almost nothing: no json, signal,
ctypes or pathlib of its own, but the C modules below them, each in one place and with the public module to fall
back on.
"""
