"""Who leads a team, and who has led it."""

import json

from pro0 import processes
from pro0.model.runtime import Process
from pro0.store.lease import Lease
from tests.engine.crew import Crew


def leader(team: Crew) -> Process | None:
    """The lead that holds the lease and has signed in."""
    held, lead = Lease(team.team.paths.team).read(), team.team.runtime.read().lead
    return lead if held and lead and held.pid == lead.pid and processes.alive(lead) else None


def one_after_the_other(team: Crew) -> list[int]:
    """The pids of the leads in their order; no two of them ever wrote into the log by turns."""
    pids = [json.loads(line)["pid"] for line in team.log().splitlines()]
    blocks = [pid for number, pid in enumerate(pids) if not number or pids[number - 1] != pid]
    assert len(blocks) == len(set(blocks)), "two leads at once"
    return blocks
