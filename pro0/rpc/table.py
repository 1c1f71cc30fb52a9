"""All methods: those with their own functions, and every other operation by its own name and signature."""

from pro0.model.caller import Who
from pro0.ops.catalog import OPERATIONS
from pro0.rpc.method import METHODS, Method
from pro0.rpc.methods import chats, feeds, members, roles, tickets, work

FAMILIES = (tickets, roles, members, work, feeds, chats)
NOT_SERVED = {
    "message.fate": "it is for a message that was just sent: pro0 send",
    "message.take_back": "it is for an MCP server whose client never read its answer",
    "permission.ask": "only the agent's own hook calls it",
    "permission.settle": "only the agent's own hook calls it",
    "role.list": "served as agent.role.list",
    "session.show": "session.list has it; its chat: session.chat.subscribe",
    "run.stop": "only a run calls it",
    "task.comment": "served as task.comment.create",
    "task.count": "only a run calls it",
    "task.import": "it reads files: pro0 task import",
    "task.remarks": "served as task.comment.list",
    "task.take": "it is for runs; task.ready and task.claim do the same",
    "task.watch": "served as task.list.subscribe",
    "team.cleanup": "it ends the lead that serves the methods: pro0 team cleanup",
    "team.lead": "an agent outside any team has no team's socket: pro0 mcp",
    "team.repair": "it is for a team that nobody leads: pro0 doctor",
    "team.resume": "it is for a team that nobody leads: pro0 team resume",
    "worker.delegate": "it reads settings: pro0 delegate",
}
"""The operations that are not served under their own names, and why."""

__all__ = ["FAMILIES", "METHODS", "NOT_SERVED"]


def _enter_operations() -> None:
    """Enter each operation that has no method of its name yet; operations on tasks in both families."""
    for name, operation in OPERATIONS.items():
        if name in METHODS or name in NOT_SERVED or operation.by <= {Who.LEAD}:
            continue
        METHODS[name] = Method(name, name, operation.function, direct=True)
        if name.startswith("task."):
            in_tickets = name.replace("task.", "ticket.")
            METHODS[in_tickets] = Method(in_tickets, name, operation.function, direct=True)


_enter_operations()
