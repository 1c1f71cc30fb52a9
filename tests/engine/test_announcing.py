"""Each need is announced once on every surface, whoever leads, and gone when it is answered (issue 14, must show 2)."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.config import USER_FILE
from pro0.engine.background import notifying
from pro0.engine.background.announcing import Announcer
from pro0.engine.background.hooking import Hooking
from pro0.engine.log import Log
from pro0.errors import Refused
from pro0.model.caller import Caller, Who
from pro0.model.decision import Announce
from pro0.model.need import Need, NeedKind, Surface
from pro0.model.runtime import State
from pro0.model.task import Awaiting, Draft, Policy, Status
from pro0.model.usage import SessionUsage
from pro0.ops import troubles, trust
from pro0.ops.context import Context, clock
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, tasks
from pro0.ops.team import costs, needs
from pro0.store.paths import CONFIG
from tests.crash.lanes import a_few
from tests.engine.crew import Crew, crew
from tests.engine.test_hooking import NEED
from tests.waiting import STUCK, wait_until


class Receiver:
    """A loopback address that takes POSTs; what it answers can be changed."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str, str]] = []
        self.answer = 200
        self.fails = ""
        """A word in what is refused."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.got.append((self.path, self.headers["X-Pro0-Need"], text))
                self.send_response(500 if outer.fails and outer.fails in text else outer.answer)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ids(self) -> list[str]:
        return [id for _, id, _ in self.got]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def shown(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A team in tmux, on a server of its own."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    with crew(home, tmp_path, "tmux") as made:
        yield made


def settings(alpha: Crew, **chosen: object) -> Path:
    """Write the person's settings; return the file that the hook writes to."""
    told = alpha.project / "told"
    hooks = {"HumanNeeded": f"cat >> {told}; echo >> {told}"}
    (alpha.store.home / USER_FILE).write_text(json.dumps({"hooks": hooks, **chosen}))
    return told


def heard(told: Path) -> list[str]:
    """The ids of the needs that the hook was told of."""
    return [json.loads(line)["need"]["id"] for line in told.read_text().splitlines()] if told.exists() else []


def asks(kind: Awaiting) -> tuple[Callable[[Crew], object], Callable[[Crew], object]]:
    return (
        lambda alpha: alpha.give(Draft(title="t", run="true", awaiting=kind)),
        lambda alpha: gates.approve(alpha.context, "task-1", "yes"),
    )


def member(alpha: Crew) -> Context:
    return Context(alpha.team, Caller(Who.MEMBER, "w1", alpha.state("w1").incarnation))


def fails(alpha: Crew) -> None:
    alpha.settled(*alpha.give(Draft(title="t", run="exit 3")))


def is_stuck(alpha: Crew) -> None:
    first, _ = alpha.give(Draft(title="first"), Draft(title="second", blocked_by=("1",), run="true"))
    tasks.cancel(alpha.context, first)


def crashes(alpha: Crew) -> None:
    os.kill(alpha.pids()["w1"][1], signal.SIGKILL)
    alpha.reaches("w1", State.CRASHED)


def is_over_its_cost(alpha: Crew) -> None:
    entry = SessionUsage(agent_id="w1", incarnation="inc-1", agent="claude", cost_usd=3.0)
    with alpha.team.usage.change("spend") as used:
        used.value = replace(used.value, sessions=(entry,))
    costs.limit(alpha.context, 2.0)


def read_all(alpha: Crew) -> None:
    messages.acknowledge(alpha.context, messages.inbox(alpha.context))


def all_seen(alpha: Crew) -> None:
    for one in alpha.team.troubles.read().troubles:
        needs.mark_seen(alpha.context, one.id)


def trouble(kind: NeedKind) -> Callable[[Crew], object]:
    return lambda alpha: troubles.note(alpha.team, kind, "it", "it broke", clock())


KINDS: dict[str, tuple[NeedKind, Callable[[Crew], object], Callable[[Crew], object]]] = {
    "question": (NeedKind.QUESTION, *asks(Awaiting.INPUT)),
    "gate": (NeedKind.GATE, *asks(Awaiting.CONTENT)),
    "review": (NeedKind.REVIEW, *asks(Awaiting.REVIEW)),
    "escalation": (NeedKind.ESCALATION, *asks(Awaiting.ESCALATION)),
    "failed": (NeedKind.FAILED, fails, lambda alpha: tasks.cancel(alpha.context, tasks.reopen(alpha.context, "1").id)),
    "stuck": (NeedKind.STUCK, is_stuck, lambda alpha: tasks.cancel(alpha.context, "task-2")),
    "stalled": (
        NeedKind.STALLED,
        lambda alpha: alpha.give(Draft(title="root", policy=Policy.SUPERVISED)),
        lambda alpha: tasks.cancel(alpha.context, "task-1"),
    ),
    "untaken": (
        NeedKind.UNTAKEN,
        lambda alpha: alpha.give(Draft(title="words only")),
        lambda alpha: tasks.cancel(alpha.context, "task-1"),
    ),
    "crash": (NeedKind.CRASH, crashes, lambda alpha: alpha.spawn("w1")),
    "mail": (NeedKind.MAIL, lambda alpha: messages.send(member(alpha), "human", "red or blue?"), read_all),
    "cost": (NeedKind.COST, is_over_its_cost, lambda alpha: costs.limit(alpha.context, 0.0)),
    "hook": (NeedKind.HOOK, trouble(NeedKind.HOOK), all_seen),
    "notice": (NeedKind.NOTICE, trouble(NeedKind.NOTICE), all_seen),
    "losses": (NeedKind.LOSSES, trouble(NeedKind.LOSSES), all_seen),
}


def there(alpha: Crew, kind: NeedKind) -> list[str]:
    return [need.id for need in needs.list_needs(alpha.context) if need.kind is kind]


def windows(alpha: Crew) -> str:
    """Name and bell flag of every window, and whether borders are stressed."""
    handle = alpha.state("w2").handle
    assert handle
    form = "#{window_name} bell=#{window_bell_flag} needed=#{@pro0_needed}"
    argv = ["tmux", "-S", handle.socket, "list-panes", "-a", "-F", form]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def is_quiet(alpha: Crew) -> bool:
    """Read the letter about the end of all tasks, which an answer may bring about; say whether nothing else is told."""
    read_all(alpha)
    return "?" not in windows(alpha)


@pytest.mark.parametrize("name", a_few(KINDS, 3))
def test_a_need_is_announced_once_on_every_surface_although_leads_die(
    name: str, shown: Crew, receiver: Receiver
) -> None:
    """URL, hook, bell and window name in tmux; then the lead is killed, and the next one says nothing twice."""
    kind, begin, answer = KINDS[name]
    told = settings(shown, notify=f"{receiver.url}/a/hook")
    lead = shown.lead()
    shown.spawn("w1", "w2")
    assert needs.list_needs(shown.context) == ()
    begin(shown)
    wait_until(lambda: there(shown, kind), STUCK, "it is a need")
    [id] = there(shown, kind)
    by_url, by_hook = kind is not NeedKind.NOTICE, kind is not NeedKind.HOOK
    wait_until(lambda: (not by_url or id in receiver.ids()) and (not by_hook or id in heard(told)), STUCK, "it is told")
    wait_until(lambda: "bell=1" in windows(shown) and " ?1 " in windows(shown), STUCK, "the window tells it")
    expected = 1 + by_url + by_hook
    wait_until(lambda: len(shown.team.announced.read().keys) == expected, STUCK, "it is recorded")
    for _ in range(2):
        lead.kill()
        lead.wait()
        lead = shown.lead()
        shown.settled(*shown.give(Draft(title="another", run="true")))  # it has looked, and worked
    assert receiver.ids().count(id) == by_url
    assert heard(told).count(id) == by_hook
    answer(shown)
    wait_until(lambda: id not in there(shown, kind), STUCK, "it is gone")
    wait_until(lambda: not any(id in key for key in shown.team.announced.read().keys), STUCK, "it is forgotten")
    wait_until(lambda: is_quiet(shown), STUCK, "the window's name is as it was")


def test_a_need_of_the_time_without_a_lead_is_announced_by_the_next(alpha: Crew, receiver: Receiver) -> None:
    settings(alpha, notify=f"{receiver.url}/a/hook")
    alpha.give(Draft(title="t", awaiting=Awaiting.INPUT))
    alpha.lead()
    wait_until(receiver.ids, STUCK, "it is told")
    assert [id.partition(":")[0] for id in receiver.ids()] == ["question"]


def test_a_need_that_comes_back_is_announced_anew_by_the_same_lead(alpha: Crew) -> None:
    """3.27: its id may be the one that it had before, such as that of a limit that is set again."""
    told = settings(alpha)
    alpha.lead()
    alpha.spawn("w1")
    for time in (1, 2, 3):
        is_over_its_cost(alpha)
        [id] = there(alpha, NeedKind.COST)
        wait_until(lambda: heard(told).count(id) == time, STUCK, "it is told")  # noqa: B023 - called at once
        wait_until(lambda: any(id in key for key in alpha.team.announced.read().keys), STUCK, "it is recorded")  # noqa: B023
        costs.limit(alpha.context, 0.0)
        wait_until(lambda: not any(id in key for key in alpha.team.announced.read().keys), STUCK, "it is forgotten")  # noqa: B023


def test_a_need_that_comes_back_while_it_is_announced_is_announced_anew(alpha: Crew) -> None:
    """3.27: a hook may take longer than a person's answer."""
    told, slow = settings(alpha), alpha.project / "slow"
    slow.touch()
    command = f"cat >> {told}; echo >> {told}; while [ -e {slow} ]; do sleep 0.1; done"
    (alpha.store.home / USER_FILE).write_text(json.dumps({"hooks": {"HumanNeeded": command}}))
    alpha.lead()
    alpha.spawn("w1")
    is_over_its_cost(alpha)
    [id] = there(alpha, NeedKind.COST)

    def announced() -> bool:
        return any(id in key for key in alpha.team.announced.read().keys)

    wait_until(lambda: id in heard(told), STUCK, "it is told")
    wait_until(announced, STUCK, "the bell has rung")
    costs.limit(alpha.context, 0.0)
    wait_until(lambda: not announced(), STUCK, "it is forgotten")
    is_over_its_cost(alpha)
    wait_until(announced, STUCK, "the bell has rung again")
    assert heard(told) == [id]
    slow.unlink()
    wait_until(lambda: heard(told) == [id, id], STUCK, "it is told again")


def test_an_agents_words_call_nobody_in_a_chat_and_are_not_too_long_for_it() -> None:
    words = f"<!channel> & @everyone {'x' * 3000}"
    need = Need(id="a", kind=NeedKind.QUESTION, subject="w1", what=words, command="pro0 needs")
    data, _ = notifying.body("https://chat.example/a/hook", "alpha", need)
    told = json.loads(data)
    assert told["text"] == f"pro0 alpha: &lt;!channel&gt; &amp; @everyone {'x' * 3000}"
    assert told["content"] == f"pro0 alpha: {words}"[:2000]
    assert told["allowed_mentions"] == {"parse": []}
    assert (told["message"], told["need"]["what"]) == (words, words)


@pytest.mark.parametrize(
    ("url", "priority"),
    [
        ("https://gotify.example/message?token=a", 5),
        ("https://example.org/gotify/message?token=a", 5),
        ("https://chat.example/hooks/message1", None),
    ],
)
def test_gotify_is_told_a_priority_that_its_app_shows(url: str, priority: int | None) -> None:
    """Its app shows nothing for the usual priority, which is 0; Mattermost takes no number for one."""
    need = Need(id="a", kind=NeedKind.QUESTION, subject="w1", what="w", command="pro0 needs")
    assert json.loads(notifying.body(url, "alpha", need)[0]).get("priority") == priority


@pytest.mark.parametrize(
    ("person", "proof"),
    [("ann:pa%40ss@", "Basic YW5uOnBhQHNz"), (":tk_x@", "Basic OnRrX3g="), ("ann@", "Basic YW5uOg=="), ("", None)],
)
def test_a_name_and_a_password_in_a_url_are_sent_as_a_header(person: str, proof: str | None) -> None:
    place, headers = notifying.addressed(f"https://{person}ntfy.example:8443/topic?a=b")
    assert (place, headers.get("Authorization")) == ("https://ntfy.example:8443/topic?a=b", proof)


def test_a_topic_behind_a_password_is_told(alpha: Crew, receiver: Receiver) -> None:
    settings(alpha, notify=f"{receiver.url.replace('://', '://ann:secret@')}/topic")
    alpha.lead()
    alpha.give(Draft(title="t", awaiting=Awaiting.INPUT))
    wait_until(lambda: receiver.got, STUCK, "it is told")
    assert not there(alpha, NeedKind.NOTICE)


def test_a_failed_notice_is_a_need_once_and_gone_when_one_arrives(alpha: Crew, receiver: Receiver) -> None:
    receiver.answer = 500
    settings(alpha, notify=f"{receiver.url}/services/secret")
    alpha.lead()
    alpha.give(Draft(title="t", awaiting=Awaiting.INPUT))
    wait_until(lambda: there(alpha, NeedKind.NOTICE), STUCK, "it is shown")
    [one] = [need for need in needs.list_needs(alpha.context) if need.kind is NeedKind.NOTICE]
    assert "500" in one.why
    assert "secret" not in one.what, "the address may be a key"
    alpha.give(Draft(title="u", awaiting=Awaiting.INPUT))
    wait_until(lambda: len(receiver.got) == 2, STUCK, "each need is tried once")
    assert there(alpha, NeedKind.NOTICE) == [one.id]
    receiver.answer = 200
    alpha.give(Draft(title="v", awaiting=Awaiting.INPUT))
    wait_until(lambda: not there(alpha, NeedKind.NOTICE), STUCK, "it is gone")
    assert len(receiver.got) == 3


def test_a_command_is_told_in_a_sentence_and_in_json(alpha: Crew) -> None:
    said, given = alpha.project / "said", alpha.project / "given"
    settings(alpha, notify=f'printf "%s\\n" "$PRO0_NEED" >> {said}; cat > {given}')
    alpha.lead()
    alpha.give(Draft(title="paint", awaiting=Awaiting.INPUT))
    wait_until(lambda: given.exists() and given.read_text().endswith("}"), STUCK, "it is run")
    assert said.read_text() == "alpha: task-1 waits for you (input): paint\n"
    assert json.loads(given.read_text())["need"]["kind"] == "question"


@pytest.mark.parametrize("surface", ["notify", "hook"])
def test_what_waits_to_be_told_while_the_settings_are_empty_is_told_later(surface: str, alpha: Crew) -> None:
    """An editor empties a file before it writes it; meanwhile an announcement is at its turn."""
    told, go = alpha.project / "told", alpha.project / "go"
    command = f"cat >> {told}; echo >> {told}; until test -e {go}; do sleep 0.05; done"
    whole = {"notify": command} if surface == "notify" else {"hooks": {"HumanNeeded": command}}
    file = alpha.store.home / USER_FILE
    file.write_text(json.dumps(whole))
    alpha.lead()
    alpha.spawn("w1")
    alpha.give(Draft(title="first", awaiting=Awaiting.INPUT))
    wait_until(lambda: heard(told), STUCK, "the first is being told")
    alpha.give(Draft(title="second", awaiting=Awaiting.INPUT))
    wait_until(lambda: len(there(alpha, NeedKind.QUESTION)) == 2, STUCK, "the second is a need")
    alpha.settled(*alpha.give(Draft(title="a look later", run="true")))
    file.write_text("")
    for title in ("another look", "the look after"):  # the first may have read the settings before they were emptied
        alpha.settled(*alpha.give(Draft(title=title, run="true")))
    go.touch()
    alpha.settled(*alpha.give(Draft(title="and one", run="true")))
    wait_until(lambda: len(alpha.team.announced.read().keys) >= 1, STUCK, "the first is recorded")
    assert len(heard(told)) == 1
    file.write_text(json.dumps(whole))
    wait_until(lambda: heard(told) == there(alpha, NeedKind.QUESTION), STUCK, "the second is told")


def test_a_hook_that_cannot_run_is_a_need_until_it_runs(alpha: Crew) -> None:
    settings(alpha)
    hooks = {"TaskCreated": "no-such-program-of-mine"}
    (alpha.store.home / USER_FILE).write_text(json.dumps({"hooks": hooks}))
    with pytest.raises(Refused, match="cannot run"):
        alpha.give(Draft(title="t"))
    [need] = [need for need in needs.list_needs(alpha.context) if need.kind is NeedKind.HOOK]
    assert need.subject == "no-such-program-of-mine"
    assert "127" in need.why
    all_seen(alpha)
    assert not there(alpha, NeedKind.HOOK)


def test_a_notice_goes_by_the_settings_known_last_while_they_are_half_written(alpha: Crew) -> None:
    """3.22: the same lead tells of what arises meanwhile, on each surface in use."""
    told = settings(alpha, notify=f"cat >> {alpha.project / 'noticed'}")
    file = alpha.store.home / USER_FILE
    alpha.lead()
    alpha.spawn("w1")  # which the lead has looked at
    file.write_text("notify: [cat")
    trouble(NeedKind.LOSSES)(alpha)
    [id] = there(alpha, NeedKind.LOSSES)
    wait_until(lambda: len(alpha.team.announced.read().keys) == 3, STUCK, "bell, hook and notice are recorded")
    assert heard(told) == [id]
    assert json.loads((alpha.project / "noticed").read_text())["need"]["id"] == id
    assert not there(alpha, NeedKind.NOTICE)


def test_a_notice_that_cannot_even_be_tried_is_a_need_too(alpha: Crew) -> None:
    """3.27: the team's own file may be out of reach just then."""
    file, woken = alpha.team.paths.team / CONFIG, threading.Event()
    chosen = replace(trust.settings(alpha.store.home, alpha.project, {}), notify="cat")
    log = Log(alpha.team)
    announcer = Announcer(alpha.team, chosen, log, Hooking(alpha.team, log, lambda: None), woken.set)
    sound = file.read_bytes()
    file.write_text("damaged")
    announcer.begin(Announce(Surface.NOTIFY, NEED))
    assert woken.wait(STUCK)
    file.write_bytes(sound)
    [one] = [need for need in needs.list_needs(alpha.context) if need.kind is NeedKind.NOTICE]
    assert (one.subject, CONFIG in one.why) == ("cat", True)


def test_a_hook_of_several_lines_that_cannot_run_is_told_to_a_url(alpha: Crew, receiver: Receiver) -> None:
    """The id of its need has the whole command, and a header takes one line."""
    hook = f"set -e\nno-such-program-of-mine 'é'\n: {'x' * 500}\n"
    (alpha.store.home / USER_FILE).write_text(json.dumps({"hooks": {"TaskCreated": hook}, "notify": receiver.url}))
    with pytest.raises(Refused, match="cannot run"):
        alpha.give(Draft(title="t"))
    [id] = there(alpha, NeedKind.HOOK)
    alpha.lead()
    wait_until(receiver.ids, STUCK, "it is told")
    told = "hook:set -e?no-such-program-of-mine '?'?: xxx"
    assert [(one[: len(told)], len(one)) for one in receiver.ids()] == [(told, 200)]
    assert json.loads(receiver.got[0][2])["need"]["id"] == id
    assert not there(alpha, NeedKind.NOTICE)


def test_a_hundred_tasks_and_one_question_are_one_message(alpha: Crew) -> None:
    """Must show 3; of the tasks only the end of them all is told."""
    alpha.lead()
    alpha.spawn("w1", "w2", "w3")
    ids = alpha.give(*(Draft(title=f"short {n}", run="true") for n in range(100)))
    messages.send(member(alpha), "human", "red or blue?")
    done = alpha.settled(*ids)
    assert {task.status for task in done} == {Status.COMPLETED}
    for name in ("w1", "w2", "w3"):
        alpha.reaches(name, State.IDLE)
    wait_until(lambda: all(s.told for s in alpha.team.runtime.read().seats), STUCK, "the lead has seen them idle")
    letters = [letter.message.content for letter in messages.inbox(alpha.context)]
    assert letters == ["red or blue?", "All done: 100 tasks completed."]
