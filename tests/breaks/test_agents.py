"""What real agents broke, tried again by the command line, with stand-ins that do what these agents did."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.breaks.program import PRO0, Program, comes
from tests.waiting import STUCK, wait_until

SCREENS = Path(__file__).parents[1] / "screens"
INPUT = """
import os, sys, tty
def draw(text): os.write(1, ("\\r\\x1b[2K> " + text + "{behind}").encode())
tty.setraw(0)
draw("")
while not os.path.exists("{go}"): time.sleep(0.05)
typed = ""
while part := os.read(0, 1024):
    for key in part.decode().replace("\\x1b[200~", "").replace("\\x1b[201~", ""):
        if key == "\\r":
            with open("{told}", "a") as told: told.write(typed + "\\n")
            typed = ""
        else: typed += key
    draw(typed)
""".replace("import os, sys, tty", "import os, sys, time, tty")
CLAUDE = """
import json, os, pathlib, sys, time
if "--version" in sys.argv: sys.exit(print("{version} (Claude Code)"))
home = pathlib.Path(os.environ["HOME"], ".claude")
session = next((sys.argv[n + 1] for n, word in enumerate(sys.argv) if word == "--session-id"), "x")
turn = [{{"type": "user", "message": {{"content": "do it"}}}},
        {{"type": "assistant", "message": {{"content": [{{"type": "text", "text": "done"}}]}}}}]
for path in (home / "sessions", home / "projects" / "all"): path.mkdir(parents=True, exist_ok=True)
(home / "projects" / "all" / f"{{session}}.jsonl").write_text("".join(json.dumps(one) + "\\n" for one in turn))
state = {{"sessionId": session, "startedAt": 1, "statusUpdatedAt": 10**13, **{state}}}
(home / "sessions" / f"{{os.getpid()}}.json").write_text(json.dumps(state))
sys.stdout.write(pathlib.Path("{screen}").read_text().rstrip("\\n").replace("\\n", "\\r\\n"))
sys.stdout.flush()
time.sleep(600)
"""
Message = dict[str, object]
READ: tuple[Message, ...] = (
    {"id": 1, "method": "initialize"},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "check_messages", "arguments": {}}},
)
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"}}
LISTED: tuple[Message, ...] = (READ[0], READ[1], {"id": 2, "method": "tools/list", "params": {}})
LABELLED = {
    "claude-2.1.330-120x40-trust": ("dialog",),
    "pi-0.87.1-120x40-working": ("working",),
    "pi-0.87.1-120x40-working-tool": ("working",),
    "pi-0.87.1-120x40-working-queued": ("working",),
    "pi-0.87.1-120x40-menu": ("dialog", "waiting", "menu"),
    "pi-0.73.1-120x40-menu": ("dialog", "waiting", "menu"),
}


def settings(pro0: Program, agent: str, words: str, **behind: str) -> None:
    """Define an agent of the settings: a program with an input that begins with >."""
    program = pro0.project.parent / "agent.py"
    program.write_text(behind.pop("program"))
    more = "".join(f"    {line}\n" for line in behind.values())
    pro0.settings(f"agents:\n  {agent}:\n    argv: [{sys.executable}, -S, {program}{words}]\n{more}")


def rpc(messages: tuple[Message, ...]) -> str:
    """Return lines for an MCP server, as a shell's word."""
    hello = ({**messages[0], "params": HELLO}, *messages[1:])
    return "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\\n" for one in hello)


@pytest.mark.parametrize("name", LABELLED)
def test_screens_are_read_right(pro0: Program, name: str) -> None:
    """M1 and the screens beside it: dialogs without numbers, hints, a spinner in an edge, a menu."""
    said = pro0.run("agent", "explain", name.partition("-")[0], "--screen", str(SCREENS / f"{name}.txt"), "--json")
    assert json.loads(said.out)["state"] in LABELLED[name], said.out


def test_a_hint_after_a_failed_turn_is_no_draft(pro0: Program) -> None:
    """What newer versions draw into the empty input, in plain text."""
    text = (SCREENS / "claude-2.1.330-120x40-error-400.txt").read_text()
    rows = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split("\n")
    box = max(at for at, row in enumerate(rows) if row.startswith("❯"))
    drawn = "\n".join((*rows[:box], "❯ Resend your message to try again", *rows[box + 1 :]))
    said = pro0.run("agent", "explain", "claude", "--screen", "-", "--json", stdin=drawn)
    assert json.loads(said.out)["state"] == "error", said.out


def test_m1_a_note_of_another_try_is_found(pro0: Program) -> None:
    """In either spelling."""
    said = pro0.run(
        "agent", "explain", "claude", "--screen", str(SCREENS / "claude-2.1.330-120x40-retrying-529.txt"), "--json"
    )
    assert "529" in json.loads(said.out)["note"]


@pytest.mark.soak
def test_m2_gemini_that_will_ask_for_trust_gets_no_id(pro0: Program) -> None:
    """It would end when its person trusts the folder: it starts itself anew, and the id is taken then."""
    told = pro0.project / "told"
    pro0.script(
        "gemini",
        f'[ "$1" = --version ] && exec echo 0.61.0\necho "$*" > {told}.new; mv {told}.new {told}\nexec sleep 600\n',
    )
    pro0.start("--lead", "none")
    pro0("member", "spawn", "g", "--agent", "gemini", "--no-wait")
    wait_until(told.exists, STUCK, "it is started", every=0.1)
    assert "--session-id" not in told.read_text()


@pytest.mark.soak
def test_m3_an_unknown_word_stops_the_hand(pro0: Program) -> None:
    """A session file that says "waiting for" something new, under a screen with an empty input."""
    state = '{"status": "waiting", "waitingFor": "goal proposal"}'
    screen = SCREENS / "claude-2.1.330-120x40-idle.txt"
    program = pro0.project.parent / "claude.py"
    program.write_text(CLAUDE.format(version="2.1.330", state=state, screen=screen))
    pro0.script("claude", f'exec {sys.executable} -S {program} "$@"\n')
    pro0("team", "start", "alpha", "--detach", "--mode", "tmux", "--lead", "none")
    pro0("member", "spawn", "c", "--agent", "claude", "--no-wait")
    assert comes(lambda: pro0.member("c")["state"] not in ("", "starting", "unknown")), "its word counts as nothing"
    assert pro0.member("c")["state"] == "waiting"


@pytest.mark.soak
def test_m5_what_nobody_sees_hides_no_line(pro0: Program) -> None:
    """An input with a zero-width space behind it takes the line about mail, and its Enter."""
    told = pro0.project / "told"
    program = INPUT.format(behind="\\u200b", go="/", told=told)
    settings(pro0, "qwen", "", program=program, nudge="nudge: true", screens='screens: {prompt: "> "}')
    pro0("team", "start", "alpha", "--detach", "--mode", "tmux", "--lead", "none")
    pro0("member", "spawn", "q", "--agent", "qwen", "--no-wait")
    wait_until(lambda: ">" in pro0("member", "peek", "q"), STUCK, "it draws its input", every=0.2)
    pro0("send", "q", "hello")
    assert comes(lambda: told.exists() and "inbox" in told.read_text()), "the line was not sent"


def test_m6_who_has_no_pi_is_told_where_it_is(pro0: Program) -> None:
    """The package that goes on."""
    pro0.start("--lead", "none")
    refused = pro0.run("member", "spawn", "p", "--agent", "pi", PATH="/usr/bin:/bin")
    assert refused.code == 6, refused
    assert "@earendil-works/pi-coding-agent" in refused.err


def test_m7_a_version_that_is_newer_than_the_rules_is_named(pro0: Program) -> None:
    """Where agents are listed."""
    pro0.script("claude", 'echo "99.0.0 (Claude Code)"\n')
    said = pro0.run("agent", "list")
    assert "99.0.0" in said.out
    assert "newer" in said.out + said.err


@pytest.mark.soak
def test_minor_1_what_its_reader_was_given_is_not_unread(pro0: Program) -> None:
    """A member that has read everything, over MCP, has nothing unread."""
    told = pro0.project / "told"
    pro0.start("--lead", "none")
    script = f"until [ -e {pro0.project}/go ]; do sleep 0.1; done; (printf '{rpc(READ)}'; "
    script += f"sleep 600) | {PRO0} mcp > {told}"
    pro0("member", "spawn", "w1", "--agent", "command", "--", "sh", "-c", script)
    pro0("send", "w1", "hello, reader")
    (pro0.project / "go").touch()
    wait_until(lambda: told.exists() and "hello, reader" in told.read_text(), STUCK, "it has read", every=0.1)
    assert comes(lambda: pro0.member("w1")["unread"] == 0), pro0.member("w1")


def test_minor_3_mail_to_one_that_crashed_is_kept(pro0: Program) -> None:
    """It can be restarted, and then reads it."""
    pro0.start("--lead", "none")
    pro0("member", "spawn", "w1", "--agent", "command", "--", "sh", "-c", "sleep 1; exit 3")
    wait_until(lambda: pro0.member("w1")["state"] == "crashed", STUCK, "it has crashed", every=0.2)
    sent = pro0.run("send", "w1", "when you are back")
    assert sent.code == 0, sent


def test_minor_4_a_second_name_says_whose_it_is(pro0: Program) -> None:
    """Nobody has to find out which of two tools to call."""
    told = pro0.project / "told"
    pro0.start("--lead", "none")
    script = f"printf '{rpc(LISTED)}' | {PRO0} mcp > {told}.new; mv {told}.new {told}; sleep 600"
    pro0("member", "spawn", "w1", "--agent", "command", "--", "sh", "-c", script)
    wait_until(told.exists, STUCK, "it has listed", every=0.1)
    answers = [json.loads(line) for line in told.read_text().splitlines()]
    [tools] = [answer["result"]["tools"] for answer in answers if answer.get("id") == 2]
    second = [tool["description"] for tool in tools if tool["name"].startswith("ticket_")]
    assert second
    assert [text for text in second if "same tool as task_" not in text] == []


@pytest.mark.soak
def test_minor_5_an_agent_of_the_settings_may_run_pro0s_commands(pro0: Program) -> None:
    """Its definition says how it is told so."""
    told = pro0.project / "told"
    program = f"import sys, time\nopen('{told}', 'w').write(' '.join(sys.argv[1:]))\ntime.sleep(600)\n"
    own = 'ownCommands: [--allow, "pro0 {command}"]'
    settings(pro0, "tool", ', "{options}"', program=program, own=own)
    pro0.start("--lead", "none")
    pro0("member", "spawn", "t", "--agent", "tool", "--no-wait")
    wait_until(lambda: told.exists() and told.read_text(), STUCK, "it is started", every=0.1)
    assert "--allow pro0 inbox" in told.read_text()


@pytest.mark.soak
def test_minor_6_one_is_not_idle_before_its_first_prompt_is_taken(pro0: Program) -> None:
    """It draws an empty input long before."""
    program = INPUT.format(behind="", go=pro0.project / "go", told=pro0.project / "told")
    settings(pro0, "slow", ', "{prompt}"', program=program, nudge="nudge: true", screens='screens: {prompt: "> "}')
    pro0("team", "start", "alpha", "--detach", "--mode", "tmux", "--lead", "none")
    pro0("member", "spawn", "s", "--agent", "slow", "--no-wait")

    def read() -> bool:
        now = pro0.member("s")
        assert now["state"] != "idle"
        return "prompt" in json.dumps(now)

    wait_until(read, STUCK, "its input is read", every=0.2)
