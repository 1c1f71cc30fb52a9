"""Whose processes a guard ends where orphans do not come to it: those of its terminal sessions, and no lead's."""

import json
import subprocess
import sys

import pytest

from tests.waiting import STUCK

LOOK = """
import json, os, subprocess, sys, time
from pro0.guard import tree
from pro0.processes import table

def orphan(name, **variables):
    # A child's child in the session of that child, which then ends: nobody finds it below this process.
    sleeps = [sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(600)"]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if name == "other":
            os.setsid()
        found = subprocess.Popen(sleeps, stdout=subprocess.PIPE, env={**os.environ, **variables})
        found.stdout.readline()
        os.write(writing, json.dumps([os.getpid(), found.pid]).encode())
        time.sleep(0 if name == "own" else 600)
        os._exit(0)
    leader, pid = json.loads(os.read(reading, 1000))
    if name == "own":
        os.waitpid(child, 0)
    return leader, pid

me = os.getpid()
_, own = orphan("own")
_, spared = orphan("own", PRO0_LEAD="1")
shown = lambda leaders: sorted(p.pid for p in tree.belonging("no-such-incarnation", leaders))
told = {"none": shown(()), "nobody": shown((0,)), "own": shown((me,)), "expected": [own]}
other, inner = orphan("other")
below = shown(())
told["below"] = below == sorted([other, inner])
for pid in (own, spared, inner, other):
    os.kill(pid, 9)
print(json.dumps(told))
"""
ELSEWHERE = """
import json, os, subprocess, sys
from pro0.guard import tree
leader = int(sys.argv[1])
shown = lambda leaders: sorted(p.pid for p in tree.belonging("no-such-incarnation", leaders))
print(json.dumps([shown(()), shown((leader,)), shown((os.getpid(),))]))
"""


def asked(*words: str, leads: bool) -> object:
    """Return what a program tells that is the leader of its own session, or of none."""
    command = (sys.executable, "-I", "-c", *words)
    done = subprocess.run(command, capture_output=True, text=True, timeout=STUCK, start_new_session=leads)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are looked for by the table of Linux")
def test_orphans_of_its_own_session_belong_to_a_guard() -> None:
    told = asked(LOOK, leads=True)
    assert isinstance(told, dict)
    assert told == {"none": [], "nobody": [], "own": told["expected"], "expected": told["expected"], "below": True}


def test_those_of_its_agents_session_belong_to_it_too() -> None:
    sleeps = (sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(600)")
    with subprocess.Popen(sleeps, stdout=subprocess.PIPE, start_new_session=True) as agent:
        try:
            assert agent.stdout
            agent.stdout.readline()
            assert asked(ELSEWHERE, str(agent.pid), leads=False) == [[], [agent.pid], []]
        finally:
            agent.kill()
