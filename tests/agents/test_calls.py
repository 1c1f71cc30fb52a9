"""How each agent is started: argv, environment and files, as tables."""

import json
import re
import socket
import subprocess
import tomllib
from contextlib import ExitStack, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.agents import adapter_named, own_tools
from pro0.agents.adapter import Brief, Invocation
from pro0.agents.codex import adapter as codex
from pro0.agents.first_prompt import IN_ARGV
from pro0.agents.layers import merged
from pro0.agents.opencode import adapter as opencode
from pro0.errors import BadInput
from pro0.model.agent import AGENTS
from pro0.model.team import PermissionMode, Seat
from pro0.wire import TOOLS_LISTED
from tests.waiting import STUCK

REAL = tuple(name for name in sorted(AGENTS) if adapter_named(name).program)
ID = "22222222-2222-4222-8222-222222222222"
SECRET = "s3cr3t-s3nt1n3l"
BRIEF = Brief(
    seat=Seat(agent_id="ann", name="Ann", agent="claude"),
    prompt="Build it.",
    folder="/p0/s/ann",
    cwd="/ann/shop",
    environment={"HOME": "/ann", "PRO0_TEAM": "auth", "PRO0_AGENT_ID": "ann", "A_KEY": SECRET},
    pro0=("/bin/python", "-m", "pro0"),
    mailbox="/p0/mail/ann.json",
)
SERVER = ["-m", "pro0", "mcp"]


def call(agent: str, **changes: object) -> Invocation:
    return adapter_named(agent).call(replace(BRIEF, **changes))


def flags(agent: str, **changes: object) -> str:
    words = [word for word in call(agent, **changes).argv if word != BRIEF.prompt]
    return " ".join(words[words.index(agent) :])


MODES = {
    "claude": ("--permission-mode", ("default", "acceptEdits", "plan", "bypassPermissions")),
    "gemini": ("--approval-mode", ("default", "auto_edit", "plan", "yolo")),
}


@pytest.mark.parametrize("mode", PermissionMode)
def test_a_planning_claude_uses_the_tools_unasked(mode: PermissionMode) -> None:
    """Planning, it asks before each tool that changes something, but for those that a hook allows."""
    hooks = json.loads(call("claude", mode=mode).files["settings.json"])["hooks"].get("PreToolUse", [])
    assert bool(hooks) is (mode is PermissionMode.PLAN)
    for entry in hooks:
        # A matcher of these letters alone would be a list of whole names; Claude looks for another one as a pattern.
        assert not re.fullmatch(r"[a-zA-Z0-9_|, -]+", entry["matcher"])
        assert re.search(entry["matcher"], "mcp__pro0__submit_plan")
        for other in ("Bash", "mcp__pro0__evil__run", "mcp__x__mcp__pro0__run", "mcp__pro0___run"):
            assert not re.search(entry["matcher"], other)
        [hook] = entry["hooks"]
        said = json.loads(subprocess.run(["sh", "-c", hook["command"]], capture_output=True, check=True).stdout)
        assert said["hookSpecificOutput"]["permissionDecision"] == "allow"


@pytest.mark.parametrize("mode", PermissionMode)
def test_the_server_of_a_resumed_codex_permits_what_is_permitted_now(mode: PermissionMode) -> None:
    """It would go on with the sandbox that the session had before."""
    invocation = call("codex", mode=mode, resume=True, session=ID)
    started = json.loads(invocation.files["server.json"])
    assert tuple(started["before"][-3:]) == (ID, *codex.SERVED[mode])
    assert "before" not in json.loads(call("codex", mode=mode).files["server.json"])


@pytest.mark.parametrize("mode", PermissionMode)
@pytest.mark.parametrize("agent", MODES)
def test_a_mode_is_a_flag(agent: str, mode: PermissionMode) -> None:
    flag, words = MODES[agent]
    word = words[list(PermissionMode).index(mode)]
    assert f" {flag} {word} " in flags(agent, mode=mode)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("ask", "--sandbox read-only --ask-for-approval on-request"),
        ("edits", "--sandbox workspace-write --ask-for-approval on-request"),
        ("plan", "--sandbox read-only --ask-for-approval never"),
        ("bypass", "--dangerously-bypass-approvals-and-sandbox"),
    ],
)
def test_a_mode_of_codex_is_a_sandbox(mode: str, words: str) -> None:
    assert flags("codex", mode=PermissionMode(mode)).startswith(f"codex --no-daemon {words} --config mcp_servers.pro0=")


@pytest.mark.parametrize(
    ("mode", "bash", "edit", "argv"),
    [
        ("ask", "ask", "ask", ""),
        ("edits", "ask", "allow", ""),
        ("plan", "ask", "deny", "--agent plan"),
        ("bypass", "", "", "--auto"),
    ],
)
def test_a_mode_of_opencode_is_a_set_of_rules(mode: str, bash: str, edit: str, argv: str) -> None:
    made = call("opencode", mode=PermissionMode(mode))
    rules = json.loads(made.env[opencode.CONTENT])["permission"]
    assert (rules.get("bash", {}).get("*", ""), rules.get("edit", "")) == (bash, edit)
    assert rules["pro0_*"] == "allow"
    assert argv in " ".join(made.argv)


@pytest.mark.parametrize("mode", PermissionMode)
def test_a_mode_of_pi_is_kept_by_its_bridge(mode: PermissionMode) -> None:
    made = call("pi", mode=mode)
    assert json.loads(made.files["bridge.json"])["mode"] == mode
    assert made.env == {"PRO0_BRIDGE": BRIEF.folder}
    assert made.argv[1] == "--extension"


@pytest.mark.parametrize(
    ("agent", "sign"),
    [
        ("claude", "--tools Read,Grep,Glob"),
        ("codex", "--sandbox read-only --ask-for-approval never"),
        ("gemini", "--approval-mode default"),
    ],
)
def test_who_only_delegates_is_limited(agent: str, sign: str) -> None:
    """Issue 4, 5: also when everything else may be done without asking."""
    assert sign in flags(agent, delegate_only=True, mode=PermissionMode.BYPASS)
    assert adapter_named(agent).delegates


def test_who_only_delegates_is_limited_in_its_files() -> None:
    delegating = [agent for agent in REAL if adapter_named(agent).delegates]
    limited = {agent: call(agent, delegate_only=True, mode=PermissionMode.BYPASS) for agent in delegating}
    rules = json.loads(limited["opencode"].env[opencode.CONTENT])["permission"]
    assert (rules["*"], rules["pro0_*"], "bash" in rules, "edit" in rules) == ("deny", "allow", False, False)
    assert "--auto" not in limited["opencode"].argv
    assert json.loads(limited["pi"].files["bridge.json"])["delegates"] is True
    policy = tomllib.loads(limited["gemini"].files["policy.toml"].decode())["rule"]
    [denied] = [rule for rule in policy if rule["decision"] == "deny"]
    assert denied["toolName"] == "*"
    assert all(rule["priority"] > denied["priority"] for rule in policy if rule is not denied)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("claude", f"claude --resume {ID} "),
        ("codex", f"codex resume {ID} --no-daemon "),
        ("gemini", f"gemini --resume {ID} "),
        ("opencode", f" --session {ID}"),
        ("pi", f" --session {ID}"),
    ],
)
def test_a_session_goes_on(agent: str, words: str) -> None:
    """Issue 4, 8."""
    resumed = f"{flags(agent, session=ID, resume=True, prompt='')} "
    assert words in resumed
    assert BRIEF.prompt not in resumed
    assert words not in f"{flags(agent)} "


@pytest.mark.parametrize(("agent", "chosen"), [("claude", True), ("gemini", True), ("codex", False), ("pi", False)])
def test_an_id_is_chosen_where_it_can_be(agent: str, chosen: bool) -> None:
    assert (adapter_named(agent).session_ids == "chosen") is chosen
    trusting = {**BRIEF.environment, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    assert (f"--session-id {ID}" in flags(agent, session=ID, environment=trusting)) is chosen


@pytest.mark.parametrize(
    ("agent", "model", "effort"),
    [
        ("claude", "--model m", "--effort high"),
        ("codex", "--model m", '--config model_reasoning_effort="high"'),
        ("gemini", "--model m", ""),
        ("opencode", "--model m", ""),
        ("pi", "--model m", "--thinking high"),
    ],
)
def test_model_and_effort(agent: str, model: str, effort: str) -> None:
    """Issue 4, 6."""
    said = flags(agent, seat=replace(BRIEF.seat, model="m", effort="high"))
    assert model in said
    assert effort in said
    assert "--model" not in flags(agent)


@pytest.mark.parametrize("agent", REAL)
@pytest.mark.parametrize("prompt", ["Build it.", "-x", "@file", "--help", "two\nlines 'with' \"$HOME\" `x`", "ünï ✳"])
def test_a_prompt_is_one_word_and_no_option(agent: str, prompt: str) -> None:
    made = call(agent, prompt=prompt)
    last = made.argv[-1]
    assert last.endswith(prompt)
    assert made.argv[-2] == "--" or last[0] not in "-@" or last.startswith(("--prompt=", "--prompt-interactive="))
    assert made.files["prompt.md"] == prompt.encode()


@pytest.mark.parametrize("agent", REAL)
def test_a_long_prompt_is_read_from_a_file(agent: str) -> None:
    """Rulings 3.6: over 64 KiB by file."""
    prompt = "ü" * (IN_ARGV // 2)
    assert prompt in call(agent, prompt=prompt).argv[-1]
    made = call(agent, prompt=prompt + "!")
    assert "ü" not in made.argv[-1]
    assert f"{BRIEF.folder}/prompt.md" in made.argv[-1]
    assert made.files["prompt.md"] == (prompt + "!").encode()


@pytest.mark.parametrize("agent", REAL)
@pytest.mark.parametrize("mode", PermissionMode)
def test_no_secret_is_in_argv(agent: str, mode: PermissionMode) -> None:
    """Rulings 3.17: not what is in the environment, and not what is made up for the session."""
    made = call(agent, mode=mode)
    secrets = [SECRET, *([made.env["OPENCODE_SERVER_PASSWORD"]] if agent == "opencode" else [])]
    assert not [word for word in made.argv for secret in secrets if secret in word]


def test_every_session_of_opencode_has_its_own_password_and_port() -> None:
    made = [call("opencode") for _ in range(5)]
    assert len({one.env["OPENCODE_SERVER_PASSWORD"] for one in made}) == 5
    server = json.loads(made[0].files["server.json"])
    assert server == {"port": int(made[0].argv[2]), "password": made[0].env["OPENCODE_SERVER_PASSWORD"]}


def test_opencode_listens_where_no_connection_goes_out() -> None:
    """A system gives connections high ports of its own, and one of those could be taken before OpenCode listens."""
    ports = [int(call("opencode").argv[2]) for _ in range(20)]
    assert all(port in opencode.PORTS for port in ports)
    with ExitStack() as taken, pytest.MonkeyPatch.context() as patched:
        patched.setattr(opencode, "PORTS", range(ports[0], ports[0] + opencode.TRIES))
        for port in opencode.PORTS:
            listener = taken.enter_context(socket.socket())
            with suppress(OSError):
                listener.bind(("127.0.0.1", port))
        assert int(call("opencode").argv[2]) not in opencode.PORTS


def test_the_server_of_claude() -> None:
    servers = json.loads(call("claude").files["mcp.json"])["mcpServers"]
    tells = {TOOLS_LISTED: f"{BRIEF.folder}/tools.listed"}
    server = {"type": "stdio", "command": "/bin/python", "args": SERVER, "alwaysLoad": True, "env": tells}
    assert servers == {"pro0": server}


def test_claude_begins_once_it_has_its_tools(tmp_path: Path) -> None:
    """Its first request goes out when its hook of the start ends; what it has no tool for yet would be lost."""
    hooks = json.loads(call("claude", folder=str(tmp_path)).files["settings.json"])["hooks"]["SessionStart"]
    [hook] = [hook for entry in hooks if entry.get("matcher") == "startup|resume" for hook in entry["hooks"]]
    with subprocess.Popen(["sh", "-c", hook["command"]]) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(2)
        (tmp_path / "tools.listed").touch()
        assert waiting.wait(STUCK) == 0
    assert hook["timeout"] > 31


def test_the_server_of_codex_gets_named_variables() -> None:
    """Codex gives its servers nothing else, and a server without a tag would belong to nobody."""
    [entry] = [word for word in call("codex").argv if word.startswith("mcp_servers.pro0=")]
    server = tomllib.loads(entry)["mcp_servers"]["pro0"]
    assert (server["command"], server["args"]) == ("/bin/python", SERVER)
    assert server["env_vars"] == ["PRO0_AGENT_ID", "PRO0_INCARNATION", "PRO0_TEAM", "PRO0_TEAM_UID"]
    assert server["default_tools_approval_mode"] == "approve"


def test_the_server_of_codex_is_told_of_another_home() -> None:
    """S000-104: where the data lie; the other agents hand their whole environment down."""
    [entry] = [w for w in call("codex", environment={"PRO0_HOME": "/p0"}).argv if w.startswith("mcp_servers.pro0=")]
    assert "PRO0_HOME" in tomllib.loads(entry)["mcp_servers"]["pro0"]["env_vars"]


def test_the_server_of_gemini() -> None:
    made = call("gemini")
    settings = json.loads(made.files["settings.json"])
    assert settings["mcpServers"] == {"pro0": {"command": "/bin/python", "args": SERVER, "trust": True}}
    assert made.env["GEMINI_CLI_HOME"] == f"{BRIEF.folder}/home"
    assert made.links["home/.gemini/settings.json"] == "../../settings.json"


def test_the_server_of_opencode() -> None:
    settings = json.loads(call("opencode").env[opencode.CONTENT])
    assert settings["mcp"]["pro0"]["command"] == ["/bin/python", *SERVER]


def test_what_only_talks_to_the_team_is_not_asked_for() -> None:
    lines = [f"pro0 {command}" for command in own_tools.COMMANDS]
    allowed = json.loads(call("claude").files["settings.json"])["permissions"]["allow"]
    assert {"mcp__pro0", *(f"Bash({line}:*)" for line in lines)} <= set(allowed)
    bash = json.loads(call("opencode").env[opencode.CONTENT])["permission"]["bash"]
    assert bash == {"*": "ask", **{f"{line}*": "allow" for line in lines}, "pro0 *>*": "ask", "pro0 *<*": "ask"}
    policy = tomllib.loads(call("gemini").files["policy.toml"].decode())["rule"]
    assert lines in [rule.get("commandPrefix") for rule in policy]
    assert json.loads(call("pi").files["bridge.json"])["commands"] == list(own_tools.COMMANDS)


def judged_by_opencode(rules: dict[str, str], command: str) -> str:
    """Return what opencode decides about a command and its redirections: * is any text, the last rule counts."""
    matching = [
        verdict
        for pattern, verdict in rules.items()
        if re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), command, re.DOTALL)
    ]
    return matching[-1]


@pytest.mark.parametrize("mode", ["ask", "edits", "plan"])
def test_opencode_asks_before_a_command_of_pro0_writes_a_file(mode: str) -> None:
    """The text that it would write is the agent's own: that of a task, of mail."""
    made = call("opencode", mode=PermissionMode(mode))
    rules = json.loads(made.env[opencode.CONTENT])["permission"]["bash"]
    verdicts = {
        "pro0 inbox": "allow",
        "pro0 send bob 'it is done;\nsee below'": "allow",
        "pro0 task show 3": "allow",
        "pro0 inbox > .git/hooks/pre-commit": "ask",
        "pro0 task show 3 >> ~/.bashrc": "ask",
        "pro0 inbox 2>x": "ask",
        "pro0 inbox\\\n&>x": "ask",
        "pro0 send bob - < secret": "ask",
        "pro0 send bob - <<E >x\ntext\nE": "ask",
        "> x pro0 inbox": "ask",
        "ls": "ask",
    }
    assert {command: judged_by_opencode(rules, command) for command in verdicts} == verdicts


@pytest.mark.parametrize(
    ("agent", "file", "module", "events"),
    [
        ("claude", "settings.json", "turn_end", ["Stop"]),
        ("gemini", "settings.json", "gemini.hooks", ["BeforeAgent", "AfterTool", "AfterAgent", "SessionStart"]),
    ],
)
def test_hooks_ask_for_mail(agent: str, file: str, module: str, events: list[str]) -> None:
    hooks = json.loads(call(agent).files[file])["hooks"]
    for event in events:
        [hook] = [hook for group in hooks[event] for hook in group["hooks"] if not hook.get("async")]
        assert hook["command"].endswith(f"-m pro0.agents.{module} {BRIEF.mailbox} {BRIEF.folder}")
    without = json.loads(call(agent, mailbox="").files[file])
    assert set(events).isdisjoint(without.get("hooks", {}))


def test_gemini_tells_of_a_start_only_when_a_person_has_cleared() -> None:
    """The start of the program itself does not wait for a hook."""
    hooks = json.loads(call("gemini").files["settings.json"])["hooks"]
    assert [group["matcher"] for event in hooks for group in hooks[event]] == ["", "", "", "clear"]


def test_settings_of_the_person_for_opencode_stay() -> None:
    theirs = {"mcp": {"theirs": {"type": "remote"}}, "permission": {"bash": {"ls": "allow"}}, "theme": "x"}
    environment = {**BRIEF.environment, opencode.CONTENT: json.dumps(theirs)}
    settings = json.loads(call("opencode", environment=environment).env[opencode.CONTENT])
    assert (settings["theme"], set(settings["mcp"])) == ("x", {"theirs", "pro0"})
    assert {"ls": "allow"}.items() <= settings["permission"]["bash"].items()


CAREFUL = {"bash": {"ls*": "allow"}, "edit": "ask", "webfetch": "deny"}
FREE = {"*": "allow", "bash": "allow", "edit": "allow", "github_*": "allow"}


@pytest.mark.parametrize(
    ("theirs", "brief", "verdicts"),
    [
        (CAREFUL, {}, {"bash pro0 inbox": "allow", "bash pro0 inbox > x": "ask", "bash rm x": "ask", "edit x": "ask"}),
        (
            CAREFUL,
            {"mode": PermissionMode.PLAN},
            {"bash pro0 inbox": "allow", "edit x": "deny", "pro0_send *": "allow"},
        ),
        (FREE, {"mode": PermissionMode.PLAN}, {"bash pro0 inbox": "allow", "edit x": "deny"}),
        (FREE, {}, {"bash pro0 inbox": "allow", "bash pro0 inbox > x": "ask", "bash rm x": "ask", "edit x": "ask"}),
        (FREE, {"delegate_only": True}, {"bash rm x": "deny", "edit x": "deny", "github_push *": "deny"}),
        (FREE, {"delegate_only": True}, {"read x": "allow", "grep x": "allow", "pro0_send *": "allow"}),
        (CAREFUL, {"delegate_only": True}, {"bash ls": "deny", "edit x": "deny", "read x": "allow"}),
    ],
)
def test_settings_of_the_person_for_opencode_undo_no_mode(
    theirs: dict[str, object], brief: dict[str, Any], verdicts: dict[str, str]
) -> None:
    """opencode merges the objects: a key of theirs keeps its place, so our * may come after it (seen in 1.18.33)."""
    ours = json.loads(call("opencode", **brief).env[opencode.CONTENT])["permission"]
    rules: list[tuple[str, str]] = []
    for tool, verdict in merged(theirs, ours).items():
        patterns = verdict if isinstance(verdict, dict) else {"*": verdict}
        rules += [(f"{tool} {pattern}", str(word)) for pattern, word in patterns.items()]

    def judged(act: str) -> str:
        pairs = ((zip(act.split(" ", 1), rule.split(" ", 1), strict=True), word) for rule, word in rules)
        return [word for pair, word in pairs if all(fnmatchcase(text, pattern) for text, pattern in pair)][-1]

    assert {act: judged(act) for act in verdicts} == verdicts


@pytest.mark.parametrize("text", ["{", "[]", "// a comment\n{}"])
def test_settings_that_are_not_understood_are_not_lost(text: str) -> None:
    with pytest.raises(BadInput, match=opencode.CONTENT):
        call("opencode", environment={opencode.CONTENT: text})


@pytest.mark.parametrize("name", AGENTS)
def test_every_adapter_has_its_own_name(name: str) -> None:
    adapter = adapter_named(name)
    assert adapter.name == name
    assert adapter.program in ("", name)


@pytest.mark.parametrize("agent", REAL)
def test_nothing_is_written_outside_of_the_folder_of_the_session(agent: str) -> None:
    assert not [name for name in call(agent).files if "/" in name]
    assert BRIEF.folder not in call(agent).files


OWN, ANOTHER = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


@pytest.mark.parametrize(
    ("source", "conversation", "why"),
    [
        ("compact", OWN, "your conversation was just compacted"),
        ("clear", ANOTHER, "a person has just switched to another conversation"),
        ("resume", ANOTHER, "a person has just switched to another conversation"),
        ("resume", OWN, ""),
        ("startup", OWN, ""),
        ("fork", ANOTHER, ""),
    ],
)
def test_claude_is_told_who_it_is_where_it_would_not_know(source: str, conversation: str, why: str) -> None:
    """Issue 17, build 2: what its hook prints becomes part of the conversation."""
    hooks = json.loads(call("claude", session=OWN).files["settings.json"])["hooks"]["SessionStart"]
    lines = [hook["command"] for entry in hooks if entry.get("matcher") == source for hook in entry["hooks"]]
    event = json.dumps({"session_id": conversation, "hook_event_name": "SessionStart", "source": source})
    done = [subprocess.run(["/bin/sh", "-c", line], input=event, capture_output=True, text=True) for line in lines]
    assert not any(one.returncode or one.stderr for one in done)
    printed = "".join(one.stdout for one in done)
    assert bool(printed) is bool(why)
    if why:
        assert printed.startswith(f"You are ann, a member of a team that pro0 runs; {why}")
        assert "/p0/s/ann/prompt.md" in printed
