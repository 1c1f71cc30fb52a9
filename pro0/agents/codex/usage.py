"""What a Codex has used: its own conversations, and the subagents, each of which has a rollout of its own."""

import msgspec

from pro0.agents.adapter import SessionView
from pro0.agents.codex.rollout import id_of, near, rollout_of
from pro0.agents.memory import Memory
from pro0.agents.transcripts import Moment, decoded
from pro0.decoding import decoder
from pro0.model.usage import Usage


class _Tokens(msgspec.Struct):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0


class _Info(msgspec.Struct):
    total_token_usage: _Tokens


class _Item(msgspec.Struct):
    agent_thread_id: str | None = None
    receiver_thread_ids: tuple[str, ...] | None = None


class _Payload(msgspec.Struct):
    type: str = ""
    info: _Info | None = None
    model: str = ""
    forked_from_id: str | None = None
    item: msgspec.Raw = msgspec.Raw(b"{}")
    agent_thread_id: str | None = None
    new_thread_id: str | None = None
    thread_id: str | None = None
    response_id: str | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    type: str
    timestamp: Moment
    payload: _Payload


_LINE = decoder(_Line)
_ITEM = decoder(_Item)
_TOKENS = decoder(_Tokens)


def usage(session_view: SessionView, memory: Memory) -> Usage | None:
    """Return the session's usage since its start, in the rollouts of all its conversations and their subagents."""
    conversations = (*session_view.earlier, session_view.session, memory.conversation)
    ids = [*filter(None, dict.fromkeys(conversations))] or [""]
    parts = [_usage(session_view, memory, conversation) for conversation in ids]
    paths = [rollout_of(session_view, memory, conversation) for conversation in ids]
    counted = {*ids, *(id_of(path) for path in paths if path)}
    waiting = [id for conversation in ids for id in memory.part(conversation).subagents]
    for id in waiting:  # it grows: a subagent may start others
        if id not in counted:
            counted.add(id)
            parts.append(_usage_of_subagent(session_view, memory, id))
            waiting += memory.part(id).subagents
    used = [part for part in parts if part]
    return sum(used, Usage()) if used else None


def _usage(session_view: SessionView, memory: Memory, conversation: str) -> Usage | None:
    """Return what a rollout's sums have grown by since the start; a fork begins with another rollout's sum.

    Codex writes a sum after each call of its model, and sometimes the same sum again.
    """
    path, part = rollout_of(session_view, memory, conversation), memory.part(conversation)
    for line in part.follow(path).read(_LINE) if path else ():
        part.goes_on = part.goes_on or bool(line.payload.forked_from_id)
        _note(line, part)
        if line.payload.info:
            used = _used(line.payload.info.total_token_usage, part.model)
            call, part.before = used - part.before, used
            if not part.goes_on and line.timestamp >= session_view.started_at and call.tokens > 0:
                part.count(f"{line.timestamp} {used}", call, line.timestamp)
            part.goes_on = False
    return part.total


def _usage_of_subagent(session_view: SessionView, memory: Memory, id: str) -> Usage | None:
    """Return what a subagent has used since the start: its rollout may begin with the sums of who started it.

    So only the records of its own calls count. Versions without them do not tell what their subagents have used.
    """
    path, part = memory.files.get(id) or next(near(session_view, id), None), memory.part(id)
    if path:
        memory.files[id] = path
    for line in part.follow(path).read(_LINE) if path else ():
        _note(line, part)
        if line.type == "token_usage_record" and line.payload.thread_id == id:
            for tokens in decoded([line.payload.usage], _TOKENS):
                if line.timestamp >= session_view.started_at:
                    part.count(
                        line.payload.response_id or f"{line.timestamp}", _used(tokens, part.model), line.timestamp
                    )
    return part.total


def _note(line: _Line, part: Memory) -> None:
    """Note the model that a line names, and the subagents; another subagent may be named, or who started it."""
    payload = line.payload
    if line.type == "turn_context":
        part.model = payload.model or part.model
    elif line.type == "event_msg":
        items = decoded([payload.item], _ITEM) if payload.type == "item_completed" else []
        named = (payload.agent_thread_id, payload.new_thread_id, *(item.agent_thread_id for item in items))
        receivers = (id for item in items for id in item.receiver_thread_ids or ())
        part.subagents |= dict.fromkeys(filter(None, (*named, *receivers)))


def _used(tokens: _Tokens, model: str) -> Usage:
    fresh = tokens.input_tokens - tokens.cached_input_tokens - tokens.cache_write_input_tokens
    return Usage(
        input_tokens=max(0, fresh),
        output_tokens=tokens.output_tokens,
        cache_read_tokens=tokens.cached_input_tokens,
        cache_write_tokens=tokens.cache_write_input_tokens,
        models=(model,) if model else (),
    )
