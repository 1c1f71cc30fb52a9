"""The scripted provider: every family of API, streamed and whole, with the same script; none of this runs an agent."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from pro0.scripted_model import chat
from pro0.scripted_model.request import ModelRequest, Utterance
from pro0.scripted_model.server import Provider
from pro0.scripted_model.tools import is_offered
from pro0.scripted_model.turns import ModelTurn, TurnUsage, fail, in_turn, say, shell, use
from tests.real_agents.scripts import LEAD, lead, teammate

Json = dict[str, Any]
TOOL_NAMES = {
    "anthropic": ("Bash", "mcp__pro0__claim_task"),
    "responses": ("exec_command", "claim_task"),
    "chat": ("bash", "pro0_claim_task"),
    "gemini": ("run_shell_command", "mcp_pro0_claim_task"),
}


class Family(NamedTuple):
    """How a test asks, and finds text, calls and usage in a whole answer."""

    path: str
    body: Callable[[str, list[str]], Json]
    text: Callable[[Json], str]
    call: Callable[[Json], tuple[str, Json]]
    usage: Callable[[Json], TurnUsage]


def _anthropic(prompt: str, tools: list[str]) -> Json:
    return {"messages": [{"role": "user", "content": prompt}], "tools": [{"name": name} for name in tools]}


def _responses(prompt: str, tools: list[str]) -> Json:
    plain = [{"type": "function", "name": name} for name in tools[:1]]
    spaced = {"type": "namespace", "name": "mcp__pro0", "tools": [{"name": name} for name in tools[1:]]}
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": prompt}]}], "tools": [*plain, spaced]}


def _chat(prompt: str, tools: list[str]) -> Json:
    return {"messages": [{"role": "user", "content": prompt}], "tools": [{"function": {"name": n}} for n in tools]}


def _gemini(prompt: str, tools: list[str]) -> Json:
    declared = [{"functionDeclarations": [{"name": name} for name in tools]}]
    return {"contents": [{"role": "user", "parts": [{"text": prompt}]}], "tools": declared}


def _usage_of_openai(read_in: int, cached: int, output: int) -> TurnUsage:
    return TurnUsage(read_in - cached, cached, output)


FAMILIES = {
    "anthropic": Family(
        "/v1/messages?beta=true",
        _anthropic,
        lambda body: body["content"][0]["text"],
        lambda body: (body["content"][0]["name"], body["content"][0]["input"]),
        lambda body: TurnUsage(
            body["usage"]["input_tokens"], body["usage"]["cache_read_input_tokens"], body["usage"]["output_tokens"]
        ),
    ),
    "responses": Family(
        "/v1/responses",
        _responses,
        lambda body: body["output"][0]["content"][0]["text"],
        lambda body: (body["output"][0]["name"], json.loads(body["output"][0]["arguments"])),
        lambda body: _usage_of_openai(
            body["usage"]["input_tokens"],
            body["usage"]["input_tokens_details"]["cached_tokens"],
            body["usage"]["output_tokens"],
        ),
    ),
    "chat": Family(
        "/v1/chat/completions",
        _chat,
        lambda body: body["choices"][0]["message"]["content"],
        lambda body: (
            body["choices"][0]["message"]["tool_calls"][0]["function"]["name"],
            json.loads(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]),
        ),
        lambda body: _usage_of_openai(
            body["usage"]["prompt_tokens"],
            body["usage"]["prompt_tokens_details"]["cached_tokens"],
            body["usage"]["completion_tokens"],
        ),
    ),
    "gemini": Family(
        "/v1beta/models/gemini-2.5-pro:generateContent",
        _gemini,
        lambda body: body["candidates"][0]["content"]["parts"][0]["text"],
        lambda body: (
            body["candidates"][0]["content"]["parts"][0]["functionCall"]["name"],
            body["candidates"][0]["content"]["parts"][0]["functionCall"]["args"],
        ),
        lambda body: _usage_of_openai(
            body["usageMetadata"]["promptTokenCount"],
            body["usageMetadata"]["cachedContentTokenCount"],
            body["usageMetadata"]["candidatesTokenCount"],
        ),
    ),
}
every_family = pytest.mark.parametrize("family", FAMILIES)


def post(url: str, body: Json) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


def ask(provider: Provider, family: str, prompt: str, *, tools: bool = True) -> Json:
    form = FAMILIES[family]
    answer: Json = json.loads(post(provider.url + form.path, form.body(prompt, [*TOOL_NAMES[family]] if tools else [])))
    return answer


@every_family
def test_a_script_speaks_in_turn(provider: Provider, family: str) -> None:
    provider.script("agent w1", in_turn(say("One."), say("Two."), afterwards="No more."))
    assert [FAMILIES[family].text(ask(provider, family, "you are agent w1")) for _ in range(4)] == [
        "One.",
        "Two.",
        "No more.",
        "No more.",
    ]


@every_family
def test_tools_are_called_by_the_names_that_the_agent_offers(provider: Provider, family: str) -> None:
    provider.script("w1", in_turn(shell("ls"), use("claim_task", task_id="task-1")))
    names = TOOL_NAMES[family]
    called, arguments = FAMILIES[family].call(ask(provider, family, "w1"))
    assert (called, "ls" in arguments.values()) == (names[0], True)
    assert FAMILIES[family].call(ask(provider, family, "w1")) == (names[1], {"task_id": "task-1"})


@every_family
def test_usage_is_what_was_kept(provider: Provider, family: str) -> None:
    provider.script("w1", in_turn(say("One."), fail(529)))
    provider.script("w2", in_turn(say("Other.")))
    told = [FAMILIES[family].usage(ask(provider, family, prompt)) for prompt in ("w1", "w2", "w2")]
    with pytest.raises(urllib.error.HTTPError, match="529") as raised:
        ask(provider, family, "w1")
    raised.value.close()
    assert len(set(told)) == 3
    assert (provider.spent("w1"), provider.spent("w2")) == (told[0], told[1] + told[2])


@every_family
def test_a_stream_says_the_same_as_a_whole_answer(provider: Provider, family: str) -> None:
    provider.script("w1", in_turn(*[ModelTurn("Some words.", shell("ls").calls)] * 2))
    form = FAMILIES[family]
    path = form.path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    streamed = post(provider.url + path, form.body("w1", [*TOOL_NAMES[family]]) | {"stream": True})
    assert streamed.count("Some words.") >= 1
    data = [line.removeprefix("data: ") for line in streamed.splitlines() if line.startswith("data: ")]
    assert all(json.loads(line) for line in data if line != "[DONE]")
    assert f'"{TOOL_NAMES[family][0]}"' in streamed
    spent = provider.spent("w1")
    assert str(spent.output) in streamed
    assert str(spent.cached) in streamed


@every_family
def test_small_questions_and_strangers_use_up_no_turn(provider: Provider, family: str) -> None:
    provider.script("w1", in_turn(say("One.")))
    ask(provider, family, "w1: a title, please", tools=False)
    ask(provider, family, "nobody that is known")
    assert FAMILIES[family].text(ask(provider, family, "w1")) == "One."
    assert len(provider.of("w1")) == 1
    assert len(provider.exchanges) == 3


@every_family
@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_an_error_is_one(provider: Provider, family: str, status: int) -> None:
    provider.script("w1", in_turn(fail(status, retry_after=7)))
    with pytest.raises(urllib.error.HTTPError) as raised:
        ask(provider, family, "w1")
    with raised.value as error:
        assert (error.code, error.headers["Retry-After"]) == (status, "7")
        assert f"scripted error {status}" in str(json.loads(error.read())["error"])


def test_an_error_says_why(provider: Provider) -> None:
    provider.script("w1", in_turn(fail(429, why="try again in 20s")))
    with pytest.raises(urllib.error.HTTPError) as raised:
        ask(provider, "responses", "w1")
    with raised.value as error:
        assert json.loads(error.read())["error"]["message"] == "try again in 20s"


def test_a_script_sees_what_its_tools_answered(provider: Provider) -> None:
    """What came after the model's last word is news, and the marker counts only before its first."""
    news: list[list[str]] = []

    def script(request: ModelRequest) -> ModelTurn:
        news.append(request.results())
        return say("Yes.")

    provider.script("w1", script)
    provider.script("w2", in_turn(say("No.")))
    body = _anthropic("w1", ["Bash"])
    body["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "w2"}]},
    ]
    post(f"{provider.url}/v1/messages", body)
    assert (news, provider.of("w2")) == ([["w2"]], [])


def test_other_questions_get_harmless_answers(provider: Provider) -> None:
    assert json.loads(post(f"{provider.url}/v1/messages/count_tokens", {}))["input_tokens"]
    with urllib.request.urlopen(f"{provider.url}/v1/models", timeout=30) as answer:
        assert json.loads(answer.read())["data"] == []
    assert provider.other == ["POST /v1/messages/count_tokens", "GET /v1/models"]
    assert not provider.exchanges


@pytest.mark.parametrize("name", ["mcp__pro0__create_task", "pro0_create_task", "mcp_pro0_create_task", "create_task"])
def test_a_tool_is_offered_under_any_of_its_names(name: str) -> None:
    [call] = use("create_task", title="x").calls
    assert is_offered(call, {"Bash": "", name: ""})
    assert not is_offered(call, {"Bash": ""})


def test_a_scripted_lead_waits_for_its_tools() -> None:
    """An agent may ask its model before its MCP servers are up; what is called then is lost."""
    create = use("create_task", title="x")
    script = lead(create)
    early, late = (chat.read(_chat(LEAD, names), "") for names in (["bash"], ["bash", "pro0_create_task"]))
    assert [script(early), script(late)] == [shell("sleep 1"), create]


def test_a_scripted_teammate_writes_again_to_who_was_not_there_yet() -> None:
    """It reads its mail in between: some agents stop a model that does the same again and again."""
    write, after = use("message", to="w2", content="x"), say("Done.")
    script = teammate(write, after)
    stranger = "'w2' is not a member of alpha"
    turns = [script(_answered(text)) for text in ("", stranger, "no mail", stranger, "no mail", "sent", "")]
    check = use("check_messages")
    assert turns == [write, check, write, check, write, after, say("Nothing is left to do.")]


def test_a_scripted_teammate_forgets_no_offer_that_comes_with_mail() -> None:
    script = teammate(offered={"task-1": (say("I take it."),)})
    both = script(_answered("", "You have 1 unread message", "1 task is ready for you"))
    assert [both, script(_answered("no mail")), script(_answered('"task-1"'))] == [
        use("check_messages"),
        use("get_claimable_tasks"),
        say("I take it."),
    ]


def test_a_scripted_teammate_hears_what_comes_in_the_middle_of_a_turn() -> None:
    """Claude Code passes it on as the system, with the answer of a tool."""
    script = teammate(offered={"task-1": ()})
    assert script(_answered("no mail", "1 task is ready for you", who="system")) == use("get_claimable_tasks")


def _answered(result: str, *words: str, who: str = "user") -> ModelRequest:
    """Return what a model is asked after its tool has answered, with what else it is told."""
    entries = (Utterance("tool", result), *(Utterance(who, text) for text in words))
    return ModelRequest(family="chat", model="scripted", entries=entries, tools={}, stream=False, body={})
