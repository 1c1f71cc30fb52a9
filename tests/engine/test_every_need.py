"""All kinds of need at once: each is on every surface, is announced once whoever leads, and goes with its answer.

Issue 14, must show 2. Both cases have all kinds; in tmux `notify` is an address, in one terminal it is a command.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from pro0.config import USER_FILE
from pro0.model.need import Need, NeedKind, Surface
from pro0.model.runtime import ENDED, State
from pro0.model.task import Draft
from pro0.ops.team import needs
from pro0.rules.lead.announcing import key
from tests.conftest import Result
from tests.engine.crew import Crew, crew
from tests.engine.need_rows import DEAF, FAILING, LAST, PUPPETS, ROWS, UNLED, nothing, puppet
from tests.engine.test_announcing import Receiver, receiver
from tests.mcp.clients import client
from tests.repositories import repository_in
from tests.rpc.calling import call
from tests.rpc.calling import client as over_rpc
from tests.view.person import Person
from tests.view.test_driven import ATTACH
from tests.waiting import STUCK, wait_until

__all__ = ["receiver"]


def test_every_kind_has_its_row() -> None:
    """Nobody is there to announce that nobody leads: tests/ops/test_unled.py shows where it is seen."""
    assert set(ROWS) == set(NeedKind) - {NeedKind.NO_LEAD}


NOTICE = re.compile("\x1b]777;notify;[^;]*;([^\x1b]*)\x1b")
TITLE = re.compile("\x1b]2;[^\a]*\a")


class Listener:
    """Where the person is told of needs: the hook, `notify`, and the terminal that they look at."""

    def __init__(self, alpha: Crew, receiver: Receiver, notify: str, raw: Path) -> None:
        self._receiver, self._raw = receiver, raw
        self._hooked, self._commanded = alpha.project / "hooked", alpha.project / "commanded"
        self.sees_notices = alpha.config.mode != "tmux"
        """A tmux in another tmux, which plays the terminal here, is given no notices by it."""
        receiver.fails = FAILING
        refuse = f'case "$PRO0_NEED" in *"{FAILING}"*) exit 9;; esac'
        command = f"cat >> {self._commanded}; echo >> {self._commanded}; {refuse}"
        settings = {
            "hooks": {"HumanNeeded": f"cat >> {self._hooked}; echo >> {self._hooked}"},
            "notify": f"{receiver.url}/a/hook" if notify == "url" else command,
            "worktree": {"setup": f"test -e {alpha.project}/ready"},
        }
        (alpha.store.home / USER_FILE).write_text(json.dumps(settings))

    def hooked(self) -> list[str]:
        return _ids(self._hooked)

    def notified(self) -> list[str]:
        return [*self._receiver.ids(), *_ids(self._commanded)]

    def on_the_desktop(self) -> list[str]:
        """The sentences of the notices that the terminal was given."""
        return NOTICE.findall(self._raw.read_bytes().decode(errors="replace")) if self._raw.exists() else []

    def bells(self) -> list[int]:
        """How many notices came with each bell of the terminal; the end of a title is no bell."""
        text = TITLE.sub("", self._raw.read_bytes().decode(errors="replace"))
        return [len(NOTICE.findall(with_it)) for with_it in text.split("\a")[1:]]


def _ids(path: Path) -> list[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line)["need"]["id"] for line in lines]


def open_needs(alpha: Crew) -> dict[NeedKind, Need]:
    """The first need of each kind."""
    return {need.kind: need for need in reversed(needs.list_needs(alpha.context))}


def ids(found: Iterable[Need]) -> set[str]:
    return {need.id for need in found}


def desktop(need: Need) -> str:
    return need.sentence.replace(";", ",")[:200]


def begun(alpha: Crew, kinds: Iterable[NeedKind]) -> None:
    """Let needs arise, one after the other."""
    for kind in kinds:
        ROWS[kind].begin(alpha)
    for kind in kinds:
        has(alpha, kind)


def has(alpha: Crew, kind: NeedKind) -> None:
    """Wait until the person is needed so."""
    wait_until(lambda: kind in open_needs(alpha), STUCK, f"there is a need of the kind {kind}")


def as_if_for_long(alpha: Crew, *names: str) -> None:
    """Write down, while nobody leads, that members are for ten minutes as they are."""
    with alpha.team.runtime.change("a test") as change:
        old = [
            replace(s, since=s.since - timedelta(minutes=10)) if s.agent_id in names else s for s in change.value.seats
        ]
        change.value = replace(change.value, seats=tuple(old))


def once(heard: Listener, found: Iterable[Need]) -> None:
    """Each of these was told once, and nothing was told twice."""
    for told in (heard.hooked(), heard.notified(), heard.on_the_desktop()):
        assert {one: number for one, number in Counter(told).items() if number > 1} == {}
    for need in found:
        assert (need.id in heard.hooked()) is (need.kind is not NeedKind.HOOK), "the hook that fails is not asked"
        assert (need.id in heard.notified()) is (need.kind is not NeedKind.NOTICE), "nor is notify"
        assert (desktop(need) in heard.on_the_desktop()) is heard.sees_notices


def on_every_list(alpha: Crew, cli: Callable[..., Result]) -> None:
    """Status, needs and JSON-RPC have them all, in the same order."""
    present = [need.id for need in needs.list_needs(alpha.context)]
    look = json.loads(cli("team", "status", "alpha", "--json").out)
    assert [need["id"] for need in look["attention"]] == present
    assert [need["id"] for need in json.loads(cli("needs", "-t", "alpha", "--json").out)] == present
    subscribed = call(over_rpc(alpha.team, alpha.context), "need.list.subscribe")
    assert [need["id"] for need in subscribed["needs"]] == present


def at_rest(alpha: Crew, cli: Callable[..., Result]) -> None:
    """Once nothing moves any more, `team wait` ends and has them all."""
    waited = cli("team", "wait", "alpha", "--json")
    assert [need["id"] for need in json.loads(waited.out)["needs"]] == [
        need.id for need in needs.list_needs(alpha.context)
    ]


async def taken_up(alpha: Crew) -> None:
    """Another agent of the person's leads, and sees over MCP what needs them."""
    async with client(alpha.project, "auto") as agent:
        await agent("create_team", name="alpha")
        told = {need["id"] for need in (await agent("list_needs"))["needs"]}
    assert told | {"own-agent:human"} >= ids(open_needs(alpha).values())


def shown_to_who_looks(alpha: Crew, person: Person) -> None:
    """The board has a line for each; the bar counts them. In tmux borders and the window's name do."""
    present = needs.list_needs(alpha.context)
    if alpha.config.mode == "tmux":
        panes = panes_of(alpha)
        assert all(re.search(r" \?\d+$", window) for _, window, _, _ in panes)
        assert "1" in {bell for _, _, bell, _ in panes}
        stressed = {title for title, _, _, is_needed in panes if is_needed == "1"}
        assert stressed >= {need.member for need in present if need.member} & shown_members(alpha)
        return
    waiting = sum(need.kind is not NeedKind.MAIL for need in present)
    person.sees(lambda rows: f"{waiting} wait" in rows[-1])
    person.press("C-t")
    for need in present:
        person.sees(need.what[:60])
    person.press("Escape")


def panes_of(alpha: Crew) -> list[list[str]]:
    """The title of each pane, the name and the bell of its window, and whether its border is stressed."""
    handle = alpha.state("worker").handle
    assert handle
    form = "\t".join(("#{@pro0_title}", "#{window_name}", "#{window_bell_flag}", "#{@pro0_needed}"))
    argv = ["tmux", "-S", handle.socket, "list-panes", "-a", "-F", form]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return [row.split("\t") for row in shown.splitlines()]


def shown_members(alpha: Crew) -> set[str]:
    return {state.agent_id for state in alpha.team.runtime.read().seats if state.handle and state.state not in ENDED}


def kept(alpha: Crew) -> set[str]:
    """The needs whose announcement is remembered."""
    return {name.partition(" ")[2] for name in alpha.team.announced.read().keys}


def recorded(alpha: Crew, found: Iterable[Need]) -> None:
    """Wait until it is recorded what was told: a lead that dies before that leaves it owed."""
    keys = {key(surface, need.id) for need in found for surface in Surface if DEAF.get(surface) is not need.kind}
    wait_until(lambda: keys <= set(alpha.team.announced.read().keys), STUCK, "it is recorded")


def gone(alpha: Crew, need: Need) -> None:
    """Wait until nothing lists it any more."""
    wait_until(lambda: need.id not in ids(needs.list_needs(alpha.context)), STUCK, f"{need.id} is gone")


@pytest.fixture
def alpha(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Crew]:
    """A team in a repository, in the mode of the case."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    with crew(home, tmp_path, request.param) as made:
        repository_in(made.project)
        yield made


@pytest.mark.soak
@pytest.mark.parametrize(("alpha", "notify"), [("in-process", "command"), ("tmux", "url")], indirect=["alpha"])
def test_each_is_told_once_everywhere_and_goes_with_its_answer(
    alpha: Crew, notify: str, receiver: Receiver, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    raw = tmp_path / "raw"
    heard = Listener(alpha, receiver, notify, raw)
    lead = alpha.lead()
    alpha.spawn("worker", "dying", "deaf", *map(puppet, PUPPETS), puppet("planner", plan=True))
    for name in (*PUPPETS, "planner"):
        alpha.reaches(name, State.IDLE)
    assert open_needs(alpha) == {}
    with Person(tmp_path, f"read x; env -u TMUX -u TERM_PROGRAM TERM=rxvt {ATTACH}", columns=200, lines=100) as person:
        person.tmux("pipe-pane", f"cat > {raw}")
        person.press("Enter")
        person.sees("worker")
        begun(alpha, [kind for kind in ROWS if kind not in (*UNLED, LAST)])
        recorded(alpha, needs.list_needs(alpha.context))
        lead.kill()
        lead.wait()
        for kind in UNLED:
            ROWS[kind].begin(alpha)
        as_if_for_long(alpha, "holder")
        lead = alpha.lead()
        begun(alpha, [LAST])
        for kind in ROWS:
            has(alpha, kind)
        found = open_needs(alpha)
        by_hook = {need.id for kind, need in found.items() if kind is not NeedKind.HOOK}
        by_notify = {need.id for kind, need in found.items() if kind is not NeedKind.NOTICE}
        told = lambda: (  # noqa: E731
            by_hook <= set(heard.hooked())
            and by_notify <= set(heard.notified())
            and set(map(desktop, found.values() if heard.sees_notices else ())) <= set(heard.on_the_desktop())
        )
        wait_until(told, STUCK, "all of them are told")
        recorded(alpha, found.values())
        for _ in range(2):
            lead.kill()
            lead.wait()
            lead = alpha.lead()
            alpha.settled(
                *alpha.give(Draft(title="another", run="true", assignee="worker"))
            )  # it has looked, and worked
        once(heard, found.values())
        if heard.sees_notices:  # one bell for all that arises at once, and none without a new need
            assert all(heard.bells())
            assert sum(heard.bells()) == len(heard.on_the_desktop())
        else:
            assert heard.bells()
        on_every_list(alpha, cli)
        shown_to_who_looks(alpha, person)
        for kind in reversed(ROWS):
            if kind is NeedKind.OWN_AGENT:
                anyio.run(taken_up, alpha)
            ROWS[kind].answer(alpha)
            if kind is NeedKind.IDLE_CLAIM:
                at_rest(alpha, cli)
            if ROWS[kind].answer is not nothing:
                gone(alpha, found[kind])
        for need in found.values():
            gone(alpha, need)
        wait_until(lambda: not ids(found.values()) & kept(alpha), STUCK, "none is remembered")
        if open_needs(alpha).keys() <= {NeedKind.MAIL}:
            person.sees(lambda rows: not re.search(r"\d waits?", rows[-1]))
    once(heard, found.values())
