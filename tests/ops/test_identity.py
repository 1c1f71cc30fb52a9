"""Who a process is taken for: proven by its guard, from outside by a grant, never only claimed (rulings 5.6).

Each with a real guard, below which real processes try to pass as somebody else.
"""

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pro0.errors import Refused
from pro0.mcp import listing
from pro0.model.caller import THE_HUMAN, Who
from pro0.model.runtime import State
from pro0.model.task import Draft, Status
from pro0.ops import grants
from pro0.ops.context import caller_of, new_id
from pro0.ops.tasks import tasks
from pro0.store.teams import TeamStore
from tests.faults import contents
from tests.ops.guarded import MOUNTS, NAMESPACE, PATIENCE, below_its_guard, read, refusal, session
from tests.ops.test_permissions import FORBIDDEN
from tests.teams import granted, human, make_team, set_state

PASSING = Path(__file__).parents[1] / "programs" / "passing.py"
PYTHON = (sys.executable, "-I")
AS_LEAD = {"PRO0_AGENT_ID": "lead", "PRO0_INCARNATION": "inc-lead"}
AS_OTHER = {"PRO0_AGENT_ID": "w2", "PRO0_INCARNATION": "inc-w2"}
"""With the incarnations that they have by then."""
CLEARED = ("env", "-i", "PATH=/usr/bin:/bin")
DETACHED = '("$@" >/dev/null 2>&1 &) & while ! [ -e "$FILE" ]; do sleep 0.05; done'
FORKED_TWICE = ("sh", "-c", f"setsid sh -c '{DETACHED}' sh \"$@\"", "sh")
CHAIN = ("sh", "-c", 'exec nice sh -c \'exec env "$@"\' sh "$@"', "sh")


class Way:
    """One way to pass as somebody else: what is set, what is called before, and what that needs of the kernel."""

    def __init__(self, *before: str, needs: tuple[str, ...] = (), **more: str) -> None:
        self.before = before
        self.needs = needs
        self.more = more

    def argv(self, team: TeamStore, file: Path) -> list[str]:
        """Return what is called below the guard."""
        home = team.paths.home
        cleared = [f"PRO0_HOME={home}", f"HOME={home.parent}", f"FILE={file}"] if CLEARED[-1] in self.before else []
        return [*(known(team, word) for word in self.before), *cleared, *PYTHON, str(PASSING), str(file)]


def known(team: TeamStore, text: str) -> str:
    """Return a text with the present incarnation of whoever it names."""
    for name in ("lead", "w2"):
        text = text.replace(f"inc-{name}", session(team, name))
    return text


WAYS = {
    "as itself": Way(),
    "without an identity": Way("env", "-u", "PRO0_AGENT_ID", "-u", "PRO0_INCARNATION", "-u", "PRO0_MEMBER_OF"),
    "with a cleared environment": Way(*CLEARED),
    "as the lead agent": Way("env", *(f"{name}={value}" for name, value in AS_LEAD.items())),
    "as another member": Way("env", *(f"{name}={value}" for name, value in AS_OTHER.items())),
    "as another by name": Way("env", "PRO0_AGENT_ID=w2"),
    "as another by incarnation": Way("env", "PRO0_INCARNATION=inc-w2"),
    "as a member of another team": Way("env", "PRO0_TEAM=beta"),
    "as somebody of another home": Way("env", "PRO0_MEMBER_OF=/nowhere"),
    "with a grant that is none": Way("env", "PRO0_GRANT=0123456789"),
    "through a chain of programs": Way(*CHAIN),
    "in a session of its own": Way("setsid", "-w"),
    "forked twice": Way(*FORKED_TWICE),
    "forked twice, cleared": Way(*FORKED_TWICE, *CLEARED),
    "as what is no session's": Way("env", "PRO0_LEAD=1"),
    "in a namespace of processes": Way(*NAMESPACE, needs=NAMESPACE),
    "in a namespace of processes, cleared": Way(*NAMESPACE, *CLEARED, needs=NAMESPACE),
    "in a namespace of processes with the old table": Way(*NAMESPACE[:-1], *CLEARED, needs=NAMESPACE[:-1]),
    "in a namespace of processes, as the lead agent": Way(
        *NAMESPACE, "env", *(f"{name}={value}" for name, value in AS_LEAD.items()), needs=NAMESPACE
    ),
    "in a namespace of users": Way("unshare", "--user", "--map-root-user", *CLEARED, needs=("unshare", "--user")),
}


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A team with a lead agent, two teammates, a task, and no lead process."""
    team = make_team(home, "lead", "w1", "w2")
    for name in ("lead", "w1", "w2"):  # a guard ends whatever carries its incarnation, wherever that came from
        set_state(team, name, State.IDLE, incarnation=f"inc-{name}-{new_id()}")
    tasks.create(human(team), [Draft(title="t")])
    return team


def refused_everything(team: TeamStore, file: Path, before: Mapping[str, object]) -> None:
    """Every operation that is not a member's was refused, exit 4, and nothing is another than it was."""
    done = read(file)
    assert set(done) == set(FORBIDDEN)
    assert {name: how for name, how in done.items() if how[0] != 4} == {}
    assert contents(team.paths.home) == before


@pytest.mark.parametrize("way", WAYS)
def test_no_member_passes_as_somebody_else(team: TeamStore, tmp_path: Path, way: str) -> None:
    """Rulings 2.3, 5.6: every operation that excludes members, in each way."""
    tried = WAYS[way]
    if tried.needs and (why := refusal(*tried.needs)):
        pytest.skip(f"the kernel refuses: {why}")
    before, file = contents(team.paths.home), tmp_path / "tried.json"
    called = below_its_guard(team, "w1", tried.argv(team, file), {"FILE": str(file)} | tried.more)
    assert file.exists(), called
    refused_everything(team, file, before)


@pytest.mark.parametrize("part", ["", "teams", "tasks"])
def test_a_home_is_known_by_what_it_is(team: TeamStore, tmp_path: Path, part: str) -> None:
    """Rulings 5.6: bound to another path, whole or in part, it is the same one."""
    if why := refusal(*MOUNTS):
        pytest.skip(f"the kernel refuses: {why}")
    home, other, file = team.paths.home, tmp_path / "other", tmp_path / "tried.json"
    for folder in ("teams", "tasks", "mailboxes"):
        (other / folder).mkdir(parents=True, mode=0o700)
    if part == "tasks":
        subprocess.run(["cp", "-a", str(home / "teams" / "alpha"), str(other / "teams")], check=True)
    before = contents(home)
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    bound = (*MOUNTS, "sh", "-c", script, "sh", str(home / part), str(other / part))
    cleared = ("env", "-i", f"PRO0_HOME={other}", f"HOME={tmp_path}", "PATH=/usr/bin:/bin")
    called = below_its_guard(team, "w1", [*bound, *cleared, *PYTHON, str(PASSING), str(file)])
    assert file.exists(), called
    refused_everything(team, file, before)


def test_a_home_that_was_moved_away_is_known_by_its_sessions(team: TeamStore, tmp_path: Path) -> None:
    """Rulings 5.6: a member that renames the home is no more a person there."""
    home, other, file = team.paths.home, tmp_path / "moved", tmp_path / "tried.json"
    script = 'mv "$1" "$2" && shift 2 && exec "$@"'
    cleared = ("env", "-i", f"PRO0_HOME={other}", f"HOME={tmp_path}")
    argv = ["sh", "-c", script, "sh", str(home), str(other), *cleared, *PYTHON, str(PASSING), str(file)]
    called = below_its_guard(team, "w1", argv)
    assert file.exists(), called
    assert {how[0] for how in read(file).values()} == {4}


def test_who_is_called_as_a_guard_is_none(team: TeamStore, tmp_path: Path) -> None:
    """Rulings 5.6: a command line proves nothing; the report of the session names the process."""
    sessions, file = team.paths.sessions, tmp_path / "tried.json"
    before = contents(team.paths.home)
    code = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:-1]).returncode)"
    forged = str(sessions / team.paths.launch(session(team, "lead")))
    argv = [*PYTHON, "-c", code, *PYTHON, str(PASSING), str(file), forged]
    called = below_its_guard(team, "w1", argv)
    assert file.exists(), called
    refused_everything(team, file, before)
    who = "from pro0.ops.context import caller_of, new_id; from pathlib import Path; import os, sys\n"
    who += "print(caller_of({}, Path(os.environ['PRO0_HOME']))[0].agent_id)"
    called = below_its_guard(team, "w1", [*PYTHON, "-c", code, *PYTHON, "-c", who, forged])
    assert called.out == "w1\n"


COMMANDS = {
    "member spawn evil --agent command -- sleep 9": (AS_LEAD, AS_OTHER),
    "inbox": (AS_LEAD, AS_OTHER),
    "member shutdown w2": (AS_LEAD, {}),
    "task assign 1 w1": (AS_LEAD, {}),
    "send human 'I am the lead'": (AS_LEAD, AS_OTHER),
    "task complete 1 done": (AS_OTHER, AS_LEAD),
    "task approve 1": ({"PRO0_AGENT_ID": "human"}, AS_LEAD),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_two_variables_make_nobody_another(team: TeamStore, command: str) -> None:
    """Rulings 5.6: what an obedient agent is told to type."""
    before = contents(team.paths.home)
    for variables in filter(None, COMMANDS[command]):
        said = [f"{name}={known(team, value)}" for name, value in variables.items()]
        called = below_its_guard(team, "w1", ["env", *said, *PYTHON, "-m", "pro0", *shlex.split(command)])
        assert called.code == 4, called
        assert called.err.count("pro0: ") == 1
        assert "hint: " in called.err
    assert contents(team.paths.home) == before


def test_below_its_guard_it_is_itself_whatever_the_environment_lacks(team: TeamStore) -> None:
    """Rulings 2.3: its own commands go on, with its variables and without."""
    script = '"$0" -m pro0 send w2 one && env -i PRO0_HOME="$PRO0_HOME" "$0" -I -m pro0 send w2 two'
    assert below_its_guard(team, "w1", ["sh", "-c", script, sys.executable]).code == 0
    letters = [(one.from_, one.content) for one in team.mailbox("w2").head.read().messages]
    assert letters == [("w1", "one"), ("w1", "two")]


def test_a_server_below_a_guard_is_that_members(team: TeamStore) -> None:
    """Rulings 2.3: over MCP too, without any variable."""
    code = "from pro0.mcp.listing import kind_of_caller; print(kind_of_caller())"
    for name, kind in (("w1", listing.MEMBER), ("lead", listing.LEAD_AGENT)):
        said = below_its_guard(team, name, ["env", "-i", f"PRO0_HOME={team.paths.home}", *PYTHON, "-c", code])
        assert said.out == f"{kind}\n", said


def test_the_environment_alone_makes_nobody_a_member(home: Path, team: TeamStore) -> None:
    """Rulings 5.6: nor a person, silently."""
    mine = {"PRO0_TEAM": "alpha", "PRO0_MEMBER_OF": str(home)}
    assert caller_of(mine, home) == (THE_HUMAN, None)
    claims = ({"PRO0_AGENT_ID": "w1"}, {"PRO0_INCARNATION": "inc-w1"}, AS_OTHER, {"PRO0_AGENT_ID": "../x"})
    for claim in claims:
        for said in (mine | claim, claim):
            with pytest.raises(Refused, match="nothing proves") as raised:
                caller_of(said, home)
            assert raised.value.code == "identity_unproven"
            assert 'eval "$(pro0 member env NAME)"' in (raised.value.hint or "")
    assert caller_of(mine | AS_OTHER | {"PRO0_MEMBER_OF": "/elsewhere"}, home) == (THE_HUMAN, None)


def test_a_grant_makes_a_program_a_member(home: Path, team: TeamStore) -> None:
    """Rulings 5.6: made by a person, for one member, listed, kept as a hash, revocable, over with the session."""
    first, second = granted(team, "w1"), granted(team, "lead")
    caller, name = caller_of(first, home)
    assert (caller.who, caller.agent_id, caller.incarnation, name) == (Who.MEMBER, "w1", session(team, "w1"), "alpha")
    assert caller_of(second, home)[0].who is Who.LEAD_AGENT
    assert caller_of({"PRO0_GRANT": first["PRO0_GRANT"]}, home)[0].agent_id == "w1"
    assert first["PRO0_GRANT"] not in (team.paths.team / "wanted.json").read_text()
    listed = grants.grants(human(team))
    assert [(one.agent_id, one.by, one.valid) for one in listed] == [("w1", "human", True), ("lead", "human", True)]
    assert [one.agent_id for one in grants.grants(human(team), "W1")] == ["w1"]
    grants.revoke(human(team), listed[0].id)
    bad(first, home, "was revoked")
    set_state(team, "lead", State.IDLE, incarnation="inc-newer")
    bad(second, home, "has expired")
    assert [one.valid for one in grants.grants(human(team))] == [False]
    granted(team, "w2")
    assert [one.agent_id for one in grants.grants(human(team))] == ["w2"], "what is over is dropped with the next"


def test_a_grant_is_good_for_what_it_was_given_for_alone(home: Path, team: TeamStore, tmp_path: Path) -> None:
    mine = granted(team, "w1")
    bad(mine | {"PRO0_GRANT": "x"}, home, "alpha has no such grant")
    bad(mine | {"PRO0_GRANT": "\udcff"}, home, "alpha has no such grant")
    bad(mine | {"PRO0_TEAM": "beta"}, home, "beta has no such grant")
    bad(mine | {"PRO0_TEAM": "../x"}, home, "../x has no such grant")
    bad(mine | {"PRO0_AGENT_ID": "w2"}, home, "names another")
    make_team(tmp_path / "other", "w1")
    bad(mine, tmp_path / "other", "alpha has no such grant")
    set_state(team, "w1", State.CRASHED)
    bad(mine, home, "has expired")


def bad(environment: Mapping[str, str], home: Path, why: str) -> None:
    """It is refused, with what to do about it; never silently the human."""
    with pytest.raises(Refused, match=why) as raised:
        caller_of(environment, home)
    assert raised.value.exit_code == 4
    assert "pro0 member env" in (raised.value.hint or "")


def test_too_many_grants_are_refused(team: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grants, "LIMIT", 2)
    for _ in range(2):
        granted(team, "w1")
    with pytest.raises(Refused, match="has 2 grants already"):
        granted(team, "w2")


def test_a_grant_of_another_is_none_below_a_guard(team: TeamStore) -> None:
    """Rulings 5.6: of its own it is no harm."""
    for name, code in (("w2", 4), ("w1", 0)):
        called = below_its_guard(team, "w1", [*PYTHON, "-m", "pro0", "task", "list"], granted(team, name))
        assert called.code == code, called


def test_what_cannot_be_seen_is_no_person(home: Path, team: TeamStore) -> None:
    """Rulings 5.6: in a namespace of processes of its own, while a lead is at work outside, and without any mark."""
    if why := refusal(*NAMESPACE):
        pytest.skip(f"the kernel refuses: {why}")
    from pro0.store.lease import Lease

    command = [*NAMESPACE, "env", "-i", f"PRO0_HOME={home}", "PRO0_TEAM=alpha", f"HOME={home.parent}"]
    command += [*PYTHON, "-m", "pro0", "task", "cancel", "1"]
    lease = Lease(team.paths.team)
    assert lease.take("lead")
    try:
        refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert (refused.returncode, "namespace" in refused.stderr) == (4, True), refused
    finally:
        lease.drop()
    alone = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert alone.returncode == 0, alone
    assert team.tasks.read().tasks[0].status is Status.CANCELLED
