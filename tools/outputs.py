"""The JSON that commands print, as one JSON Schema: docs/outputs.json has a property for every command with --json."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import msgspec

from pro0.cli.agent.programs import AgentProgram
from pro0.cli.demo.summary import Summary
from pro0.diffs import Difference
from pro0.engine.uninstall import Trace
from pro0.model.home import Proof, Role
from pro0.model.message import Message
from pro0.model.need import Need, PermissionRequest, Trouble
from pro0.model.run import RunEvent
from pro0.model.runtime import Exit
from pro0.model.task import Comment, Task
from pro0.ops.grants import GrantStatus
from pro0.ops.mail.messages import Letter
from pro0.ops.signature import schema_of
from pro0.ops.team.archives import ArchivedTeam
from pro0.ops.team.costs import TeamCost
from pro0.ops.team.machines import MachineStatus
from pro0.ops.team.progress import Progress
from pro0.ops.team.status import MemberStatus, TeamStatus
from pro0.ops.work.workers import Worker
from pro0.rules.feed import FeedEvent
from pro0.rules.tasks.answers import Remark
from tools.topics import table

FILE = Path(__file__).parents[1] / "docs" / "outputs.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


class More(msgspec.Struct):
    """A type whose JSON has more keys than its fields."""

    kind: Any
    keys: Mapping[str, Any]


class Sizes(msgspec.Struct):
    """How much somebody changed, in numbers."""

    commits: int
    files: int
    added: int
    removed: int
    uncommitted: int


class SizesOf(Sizes):
    """The same, with the member whose worktree it is."""

    of: str


class Merge(msgspec.Struct):
    """What a merge of a worker's branch would do."""

    conflicts: tuple[str, ...]


class Plan(msgspec.Struct, rename="camel"):
    """The plan of a member."""

    agent_id: str
    id: str
    text: str
    stage: str
    at: str | None
    by: str
    feedback: str


class SettingRow(msgspec.Struct):
    """One setting in force."""

    name: str
    value: Any
    source: str


class SettingInFull(SettingRow):
    """One setting with --long."""

    about: str
    values: str
    default: Any
    variable: str


class Checks(msgspec.Struct):
    """What `pro0 doctor` found, and what it repaired."""

    checks: list[dict[str, str]]
    repaired: list[str]


class PairedDevice(msgspec.Struct):
    """One paired browser."""

    id: str
    name: str
    rights: str
    paired_at: str


class Explained(msgspec.Struct):
    """What a screen means."""

    agent: str
    state: str
    source: str
    rule: str
    note: str
    readings: list[dict[str, Any]]


class LoggedEvent(msgspec.Struct):
    """One line of events.jsonl or lead.jsonl, with more keys, depending on the event."""

    at: str
    event: str


class PastTeam(msgspec.Struct):
    """A team as `team show` prints it."""

    name: str
    ended: str | None
    path: str | None
    status: TeamStatus
    tasks: tuple[Task, ...]
    mail: tuple[Letter, ...]
    events: tuple[dict[str, Any], ...]


Children = list[dict[str, Any]]
CHANGES = SizesOf | Sizes | None
TASK_ACTS = "start claim release complete fail assign update approve reject retry continue close reopen delete"
OUTPUTS: dict[str, Any] = {
    **dict.fromkeys((f"team {act}" for act in ("start", "status", "pause", "unpause", "stop", "resume")), TeamStatus),
    "team list": list[TeamStatus] | list[ArchivedTeam],
    "team show": PastTeam,
    "team cost": TeamCost,
    "team wait": Progress,
    "member spawn": More(MemberStatus, {"made": list[str]}),
    "member restart": MemberStatus,
    "member list": list[MemberStatus],
    "member show": More(
        MemberStatus,
        {
            "role": str,
            "prompt": str,
            "argv": tuple[str, ...],
            "generation": int,
            "lastLines": list[str],
            "gate": Plan | None,
            "exit": Exit | None,
            "changes": CHANGES,
        },
    ),
    "member peek": list[str],
    "worker logs": list[str],
    "member env": dict[str, str],
    "member grants": list[GrantStatus],
    "member forget": list[str],
    "member revoke": list[str],
    "member approve-plan": Plan,
    "member reject-plan": Plan,
    "member answer": PermissionRequest,
    "member shutdown": More(MemberStatus, {"exit": Exit | None}),
    **dict.fromkeys((f"task {act}" for act in TASK_ACTS.split()), Task),
    "task create": Task | list[Task],
    **dict.fromkeys((f"task {act}" for act in ("list", "ready", "blocked")), list[Task]),
    **dict.fromkeys((f"task {act}" for act in ("block", "unblock", "cancel", "import")), Task | list[Task]),
    "import": Task | list[Task],
    "task next": Task | None,
    "task show": More(Task, {"whyNotReady": str | None, "remarks": list[Remark], "changes": CHANGES}),
    "task tree": list[More(Task, {"children": Children})],  # type: ignore[misc]
    "task comment": Comment,
    "role list": list[Role],
    **dict.fromkeys((f"role {act}" for act in ("show", "add", "edit", "remove")), Role),
    "delegate": list[Task],
    "worker list": list[Worker],
    "host join": tuple[MachineStatus, ...],
    "host list": tuple[MachineStatus, ...],
    "worker show": More(Worker, {"merge": Merge | None, "changes": CHANGES}),
    "needs": list[Need] | Trouble,
    "diff": More(Difference, {"name": str, "shared": bool, "worktree": str, "uncommitted": int}),
    "send": Message,
    "broadcast": list[Message],
    "inbox": list[Letter],
    "web devices": list[PairedDevice],
    "agent list": list[AgentProgram],
    "agent explain": Explained,
    "agent prove": list[Proof],
    "config": list[SettingRow] | list[SettingInFull],
    "config get": SettingRow,
    "doctor": Checks,
    "uninstall": list[Trace],
    "demo": Summary,
}
"""Command → the type of what it prints."""
LINES: dict[str, Any] = {"team logs": LoggedEvent, "events": LoggedEvent, "task watch": FeedEvent, "run": RunEvent}
"""Command that prints one object a line → the type of that object."""
OPEN = {"LoggedEvent"}
"""Types that have further keys, which depend on their event."""


def document() -> Schema:
    """Return the schema of an object that has the output of each command."""
    parts: Schema = {}
    outputs = {command: _shape(kind, parts) for command, kind in OUTPUTS.items()}
    outputs |= {command: _shape(kind, parts) for command, kind in LINES.items()}
    whole = {"$schema": DIALECT, "title": "what commands print with --json, by command", "type": "object"}
    return {
        **whole,
        "properties": outputs,
        "additionalProperties": False,
        "$defs": {k: parts[k] for k in sorted(parts)},
    }


def _shape(kind: Any, parts: Schema) -> Schema:
    if isinstance(kind, More):
        own = _shape(kind.kind, parts)["$ref"].rpartition("/")[2]
        more = {name: _shape(value, parts) for name, value in kind.keys.items()}
        return _whole({"type": "object", "properties": {**parts[own]["properties"], **more}})
    if isinstance(kind, UnionType):
        return {"anyOf": [_shape(arm, parts) for arm in get_args(kind)]}
    if get_origin(kind) is list:
        return {"type": "array", "items": _shape(get_args(kind)[0], parts)}
    shape, found = schema_of(kind)
    parts |= {name: _whole(part) for name, part in found.items()}
    return dict(shape)


def _whole(part: Schema) -> Schema:
    """Return the schema of an object that prints every key, whether it has its default or not."""
    if "properties" not in part:
        return part
    return {**part, "required": sorted(part["properties"]), "additionalProperties": part.get("title") in OPEN}


def page() -> str:
    """Return the page that names what each command prints."""
    found = document()
    head = "# JSON output\n\nMade by `make reference` from the types that commands print.\n"
    head += "[outputs.json](../outputs.json) is a JSON Schema of all of it.\n"
    head += "Every key is printed, whether it has its default or not.\n"
    error = '{"error":{"code":"no_team","message":"…","hint":"…"}}'
    head += (
        "An error is said in words on stderr, and its last line there is JSON with a code of the "
        f"[reference](../reference.md).\n\n```json\n{error}\n```\n\n"
    )
    rows = [
        (f"`pro0 {name}`", f"{'one per line: ' * (name in LINES)}{_told(shape, found['$defs'])}")
        for name, shape in found["properties"].items()
    ]
    return head + table(("Command", "What `--json` prints"), rows)


def _told(shape: Schema, parts: Schema) -> str:
    """Return a schema in words: the keys of an object, or of the objects of a list."""
    if "$ref" in shape:
        return _told(parts[shape["$ref"].rpartition("/")[2]], parts)
    if "anyOf" in shape:
        return " or ".join(dict.fromkeys(_told(arm, parts) for arm in shape["anyOf"]))
    if "items" in shape:
        return f"a list of {_told(shape['items'], parts)}"
    if "properties" in shape:
        more = " and more, depending on the event" * (shape.get("title") in OPEN)
        return ", ".join(f"`{key}`" for key in shape["properties"]) + more
    return {"null": "null", "object": "a mapping", "string": "texts"}.get(str(shape.get("type")), "a value")


def text() -> str:
    """Return the text of the document."""
    return json.dumps(document(), indent=1, sort_keys=True) + "\n"


def main() -> None:
    """Write it."""
    FILE.write_text(text(), encoding="utf-8")
    print(f"{len(OUTPUTS)} outputs in docs/outputs.json")


if __name__ == "__main__":
    main()
