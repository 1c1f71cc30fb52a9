"""The bridge in pi: what runs without asking, in the language it is written in."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import resources
from pro0.agents import adapter_named, first_prompt, own_tools
from pro0.agents.bridge import reports
from pro0.agents.memory import Memory
from pro0.model.need import Choice, PermissionAnswer
from pro0.model.runtime import State
from pro0.rules.words import prompts
from tests.agents import placed
from tests.teams import NOW
from tests.waiting import STUCK, wait_until

node = pytest.mark.skipif(shutil.which("node") is None, reason="pi needs node, and so does its bridge")
ASK, EDITS, PLAN, BYPASS, DELEGATES = "ask", "edits", "plan", "bypass", "delegates"
VERDICTS = {
    ("read", "x"): ("allow", "allow", "allow", "allow", "allow"),
    ("grep", "x"): ("allow", "allow", "allow", "allow", "allow"),
    ("write", "x"): ("ask", "allow", "plan", "allow", "delegates"),
    ("edit", "x"): ("ask", "allow", "plan", "allow", "delegates"),
    ("someone_elses", "x"): ("ask", "ask", "ask", "allow", "delegates"),
    ("bash", "ls"): ("ask", "ask", "ask", "allow", "delegates"),
    ("bash", "pro0 inbox"): ("allow",) * 5,
    ("bash", "  pro0 task complete 3 'what; came $(of) it'"): ("allow",) * 5,
    ("bash", 'pro0 send bob "it\'s done (really); see\nbelow"'): ("allow",) * 5,
    ("bash", "pro0 shutdown approve"): ("allow",) * 5,
    ("bash", "pro0 member spawn x"): ("ask", "ask", "ask", "allow", "allow"),
}
"""By tool and what it is to do: the verdict in each mode."""
HIDDEN = [
    "pro0 inbox; rm -rf x",
    "pro0 inbox && rm x",
    "pro0 inbox | sh",
    "pro0 inbox\nrm x",
    "pro0 inbox `rm x`",
    'pro0 send a "$(rm x)"',
    'pro0 send a "`rm x`"',
    "pro0 inbox > x",
    "pro0 inbox < x",
    "pro0 inbox & rm x",
    "pro0 send a $HOME",
    "pro0 send a 'x' ; rm 'y",
    'pro0 send a "x\\"; rm x #"',
    "PRO0_HOME=/x pro0 inbox",
    "/evil/pro0 inbox",
    "pro0x inbox",
    "pro0 inboxes",
    "rm x # pro0 inbox",
    "",
]
"""Lines that do more than a command of pro0, or something else."""


def verdicts(cases: list[tuple[dict[str, object], str, str]], home: Path | None = None) -> list[str]:
    """Return the verdict of the bridge on each case, all from one node of a person with that home."""
    given = [(settings, tool, {"command": what, "path": what}) for settings, tool, what in cases]
    program = (
        f"import {{ judge }} from {json.dumps(resources.PI_BRIDGE.as_uri())};"
        f"console.log(JSON.stringify({json.dumps(given)}.map((one) => judge(...one))))"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "--no-warnings", "-e", program],
        env=os.environ | ({"HOME": str(home)} if home else {}),
        capture_output=True,
        timeout=STUCK,
        check=True,
    )
    result: list[str] = json.loads(done.stdout)
    return result


def bridged(folder: Path, program: str, *, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Run a program beside the bridge, which it knows as `bridge`, in the folder of a session."""
    begun = f"import bridge from {json.dumps(resources.PI_BRIDGE.as_uri())};{program}"
    return subprocess.run(
        ["node", "--input-type=module", "-e", begun],
        env=os.environ | {"PRO0_BRIDGE": str(folder)},
        capture_output=True,
        timeout=STUCK,
        check=check,
    )


def settings(mode: str) -> dict[str, object]:
    delegates = mode == DELEGATES
    mode, home = BYPASS if delegates else mode, "../../../.."
    return {"mode": mode, "delegates": delegates, "commands": own_tools.COMMANDS, "home": home}


@node
def test_what_runs_without_asking() -> None:
    modes = (ASK, EDITS, PLAN, BYPASS, DELEGATES)
    cases = [(mode, tool, what) for tool, what in VERDICTS for mode in modes]
    got = verdicts([(settings(mode) | {"home": "/ann/.pro0"}, tool, what) for mode, tool, what in cases])
    expected = [verdict for row in VERDICTS.values() for verdict in row]
    assert dict(zip(cases, got, strict=True)) == dict(zip(cases, expected, strict=True))


@node
def test_nothing_hides_behind_a_command_of_pro0() -> None:
    got = verdicts([(settings(ASK), "bash", line) for line in HIDDEN])
    assert dict(zip(HIDDEN, got, strict=True)) == dict.fromkeys(HIDDEN, "ask")


@node
def test_what_is_written_below_the_home_of_pro0_is_asked(tmp_path: Path) -> None:
    """What is written there could answer for the person; pi reads some letters of a path in ways of its own."""
    home = tmp_path / "my home"
    home.mkdir()
    (tmp_path / "link").symlink_to(home)
    (tmp_path / "new").symlink_to("link/teams/a/new")
    (tmp_path / "circle").symlink_to("circle")
    below = [home, home / "teams/a/sessions/i/answers/6b", tmp_path / "link/permissions.json", home / "x/../y"]
    below += [tmp_path / "new", tmp_path / "circle/../link/x"]
    if (other_case := home.with_name("MY HOME")).exists():
        below.append(other_case / "x")
    as_pi_reads = ["~/my home/x", "@~/my home/x", f"@{home}/x", f"{tmp_path}/my\u00a0home/x", (home / "x").as_uri()]
    beside = [tmp_path / "x", tmp_path / "my homes", home / "../x", tmp_path / "link/../x", tmp_path / "circle"]
    beside += [Path("~"), Path("~/x"), Path("@x"), Path("~other/my home"), Path("file:x")]
    modes, places = (EDITS, PLAN, BYPASS), [*map(str, below), *as_pi_reads, *map(str, beside)]
    cases = [(mode, tool, path) for path in places for mode in modes for tool in ("write", "edit")]
    got = verdicts([(settings(mode) | {"home": str(home)}, tool, path) for mode, tool, path in cases], tmp_path)
    of_beside = {EDITS: "allow", PLAN: "plan", BYPASS: "allow"}
    expected = of_beside | {EDITS: "ask"}
    inside = {*map(str, below), *as_pi_reads}
    for (mode, tool, path), verdict in zip(cases, got, strict=True):
        assert verdict == (expected if path in inside else of_beside)[mode], (mode, tool, path)


@node
def test_every_refusal_has_its_words() -> None:
    """Every text an agent is told is in one place."""
    words = {verdict for row in VERDICTS.values() for verdict in row} - {"allow"}
    assert words == set(prompts.REFUSALS)


OFFERS = {
    "both": ("{ on() {}, sendUserMessage() {} }", "starting", ""),
    "no messages": ("{ on() {} }", "unsupported", "this pi offers its extensions no sendUserMessage"),
    "no events": ("{ sendUserMessage() {} }", "unsupported", "this pi offers its extensions no on"),
}


@node
@pytest.mark.parametrize("offer", OFFERS)
def test_a_pi_that_offers_too_little_does_not_run_unasked(offer: str, tmp_path: Path) -> None:
    """A later pi may offer other things to its extensions: then it must not start as if all were well."""
    offered, state, note = OFFERS[offer]
    (tmp_path / "bridge.json").write_text(json.dumps(settings(ASK)))
    done = bridged(tmp_path, f"bridge({offered});", check=False)
    assert (done.returncode == 0) is (state == "starting")
    said = json.loads((tmp_path / "state.json").read_text())
    assert (said["state"], said["note"]) == (state, note)


HANDED = """
const handlers = {};
const said = (...words) => { console.log(JSON.stringify(words)); process.exit(0); };
bridge({ on: (name, act) => { handlers[name] = act; }, sendUserMessage: said });
const named = { sessionManager: { getSessionId: () => "one", getSessionFile: () => "/one.jsonl" } };
handlers.session_start({ reason: "startup" }, named);
handlers.agent_start();
"""


@node
def test_a_line_that_comes_in_a_turn_is_not_kept_for_its_end(tmp_path: Path) -> None:
    """Issue 17, must show 1: pi hands a text that steers over after the tools that run."""
    (tmp_path / "bridge.json").write_text(json.dumps(settings(ASK)))
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "1").write_text("You have 1 unread message")
    done = bridged(tmp_path, HANDED)
    assert json.loads(done.stdout) == ["You have 1 unread message", {"deliverAs": "steer"}]
    assert os.listdir(tmp_path / "inbox") == []


ON_A_FULL_DISK = """
import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
const handlers = {};
bridge({ on: (name, act) => { handlers[name] = act; }, sendUserMessage() {} });
const state = () => JSON.parse(readFileSync(`${process.env.PRO0_BRIDGE}/state.json`, "utf8"));
const full = `${process.env.PRO0_BRIDGE}/state.new`; // a folder in its place refuses what a full disk refuses
const told = [];
handlers.session_start({}, { sessionManager: { getSessionId: () => "one", getSessionFile: () => "/one.jsonl" } });
handlers.agent_start();
mkdirSync(full);
const ui = { confirm: async () => true };
told.push((await handlers.tool_call({ toolName: "bash", input: { command: "ls" } }, { hasUI: true, ui })) ?? "allowed");
handlers.agent_end({ messages: [] });
told.push(state().state);
rmdirSync(full);
const due = Date.now() + 60000;
while (state().state !== "idle" && Date.now() < due) await new Promise((done) => setTimeout(done, 20));
told.push(state().state, state().asks.length);
handlers.session_shutdown();
console.log(JSON.stringify(told));
"""


@node
def test_a_state_that_found_no_room_is_written_later(tmp_path: Path) -> None:
    """It beats the screen: else the member would work for ever; and what its person lets run runs meanwhile."""
    (tmp_path / "bridge.json").write_text(json.dumps(settings(ASK)))
    done = bridged(tmp_path, ON_A_FULL_DISK)
    assert json.loads(done.stdout) == ["allowed", "working", "idle", 0]


ASKING = """
const handlers = {};
bridge({ on: (name, act) => { handlers[name] = act; }, sendUserMessage() {} });
handlers.session_start({}, { sessionManager: { getSessionId: () => "one", getSessionFile: () => "/one.jsonl" } });
const ui = { confirm: (_title, _text, { signal }) => new Promise((no) => signal.onabort = () => no(false)) };
const call = { toolName: "bash", toolCallId: process.argv[1], input: { command: "ls" } };
console.log(JSON.stringify((await handlers.tool_call(call, { hasUI: true, ui })) ?? "allowed"));
handlers.session_shutdown();
"""
CALLS = {"short": "call_1", "as long as a name": "k" * 127, "longer": f"call_{'a' * 24}|{'b' * 420}", "wide": "é" * 64}
"""Ids that providers give to the calls of tools: some are longer than a file's name can be."""


@node
@pytest.mark.parametrize("id", CALLS)
def test_an_answer_from_elsewhere_reaches_a_call_whatever_its_id(id: str, tmp_path: Path) -> None:
    """Behaviour 3.28."""
    (tmp_path / "bridge.json").write_text(json.dumps(settings(ASK)))
    view = replace(placed.session_view(tmp_path, "one"), folder=str(tmp_path))
    begun = f"import bridge from {json.dumps(resources.PI_BRIDGE.as_uri())};{ASKING}"
    command = ["node", "--input-type=module", "-e", begun, CALLS[id]]
    with subprocess.Popen(command, env=os.environ | {"PRO0_BRIDGE": str(tmp_path)}, stdout=subprocess.PIPE) as pi:
        try:
            wait_until(lambda: reports.asked(view), STUCK, "the bridge asks")
            answer = PermissionAnswer(choice=Choice.ALLOW, by="human", at=NOW)
            assert reports.reply(view, CALLS[id], answer)
            assert json.loads(pi.communicate(timeout=STUCK)[0]) == "allowed"
        finally:
            pi.kill()


AGAIN = """
function offered() {
  const handlers = {};
  return { on: (name, act) => { handlers[name] = act; }, sendUserMessage() {}, handlers };
}
const named = (id) => ({ sessionManager: { getSessionId: () => id, getSessionFile: () => `/${id}.jsonl` } });
const pi = offered();
bridge(pi);
pi.handlers.session_start({ reason: "startup" }, named("one"));
pi.handlers.agent_start();
pi.handlers.agent_end({ messages: [] });
pi.handlers.session_shutdown();
const again = offered();
bridge(again);
again.handlers.session_start({ reason: "new" }, named("two"));
again.handlers.session_shutdown();
"""


@node
def test_a_new_conversation_of_the_same_pi_has_had_its_first_turn(tmp_path: Path) -> None:
    """Else the member would be starting for ever, and told of no mail; another pi in that folder begins anew.

    It tells which conversation was before, since that may be over before anybody has looked.
    """
    (tmp_path / "bridge.json").write_text(json.dumps(settings(ASK)))
    (tmp_path / first_prompt.FILE).write_text("Read the lexer.")
    view = replace(placed.session_view(tmp_path, "one"), folder=str(tmp_path))
    begun = AGAIN.split("pi.handlers.agent_start")[0]
    for program, state, earlier in ((AGAIN, State.IDLE, ("one",)), (begun, State.STARTING, ())):
        bridged(tmp_path, f"{program} process.exit(0);")
        reading = reports.look(view, Memory())
        assert reading
        assert reading.state is state
        report = reports.report_of(view)
        assert report
        assert report.earlier == earlier


def test_a_conversation_that_only_the_bridge_has_seen_counts(tmp_path: Path) -> None:
    """Usage is read from its transcript (behaviour 3.18); no lead has looked while it was the present one."""
    recorded = placed.recording("pi.jsonl")
    view, usage = placed.pi(tmp_path, recorded), adapter_named("pi").usage
    assert usage
    once = usage(view, Memory())
    assert once
    again = recorded.replace(b"2026-11-22T03:", b"2026-11-22T04:")
    placed.written(tmp_path / ".pi/agent/sessions/--ann-shop--" / "2026-11-22_two.jsonl", again)
    report = json.loads(placed.recording("pi-state.json")) | {"session": "two", "earlier": [view.session, "two"]}
    placed.written(tmp_path / "session/state.json", json.dumps(report).encode())
    assert usage(replace(view, session="two"), Memory()) == once + once


def test_the_bridge_is_shipped() -> None:
    assert resources.PI_BRIDGE.is_file()
    assert resources.PI_BRIDGE.parent == Path(resources.__file__).parent / "agents" / "pi"
