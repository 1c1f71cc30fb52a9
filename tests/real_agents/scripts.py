"""Scripted models that react: a teammate that reads its mail, does its work, and leaves when it is asked to."""

import re

from tests.real_agents.provider.request import Request
from tests.real_agents.provider.turns import Script, Turn, say, use

MAIL = re.compile(r"You have \d+ unread message")
ASKED_TO_LEAVE = "Please shut down"


def marker(agent_id: str) -> str:
    """Return what the first prompt of a teammate begins with."""
    return f"You are {agent_id}, a teammate"


def teammate(*work: Turn) -> Script:
    """Do the turns of the work one by one; read mail when told of it, and approve to be shut down when asked."""
    left = list(work)

    def script(request: Request) -> Turn:
        if any(ASKED_TO_LEAVE in result for result in request.results()):
            return use("approve_shutdown")
        if any(MAIL.search(entry.text) for entry in request.news if entry.who == "user"):
            return use("check_messages")
        return left.pop(0) if left else say("Nothing is left to do.")

    return script
