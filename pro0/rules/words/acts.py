"""Operations in words, as a refusal names them to the caller."""

from collections.abc import Iterable

_PHRASES = {
    "member.env": "see the variables of a member",
    "member.grants": "list what was granted",
    "member.forget": "give up what another machine runs",
    "member.revoke": "take a grant back",
    "need.seen": "drop a need",
    "permission.settle": "settle a permission",
    "plan.submit": "hand in a plan",
    "run.stop": "stop a run",
    "shutdown.answer": "answer a request to shut down",
    "task.clear": "drop the gates of a task",
    "task.continue": "let a task go on",
    "task.hand_off": "hand a task over",
    "task.hold": "hold a task back",
    "team.lead": "lead a team of its own",
    "team.limit": "limit the cost of a team",
}
"""The operations that need other words than their verb and noun."""
_CALLERS = {
    "human": "a person",
    "lead": "the lead process",
    "lead_agent": "a lead agent",
    "member": "a member",
    "outside": "an agent of no team",
}


def act(name: str) -> str:
    """Return an operation in words, such as `approve a task`; a name without a dot stays as it is."""
    noun, dot, verb = name.partition(".")
    if not dot:
        return name
    return _PHRASES.get(name) or f"{verb.replace('_', ' ')} a {noun}"


def not_allowed(who: str, name: str, allowed: frozenset[str]) -> str:
    """Return the sentence that refuses an operation; `allowed` are the kinds of callers with permission."""
    return f"{who} may not {act(name)}: only {callers(allowed)} may"


def callers(kinds: Iterable[str]) -> str:
    """Return kinds of callers in words, such as `a person or a lead agent`."""
    return " or ".join(_CALLERS[kind] for kind in sorted(kinds))
