"""Write docs/schema: one JSON Schema (2020-12) per stored file and per file that people write."""

import json
from pathlib import Path

import msgspec

from pro0.model.caller import Pin
from pro0.model.home import Consent, Devices, Proofs, Roles
from pro0.model.message import Mailbox, Segment
from pro0.model.need import Announced, PermissionRequests, Troubles
from pro0.model.runtime import Hosted, Launch, Report, Runtime
from pro0.model.task import Comments, HistorySegment, TaskList, TaskSegment
from pro0.model.team import Environment, PortRanges, StorePointer, TeamConfig, Wanted
from pro0.model.usage import UsageBook
from pro0.ops.signature import schema_of
from tools.file_schemas import WRITTEN

FOLDER = Path(__file__).parents[1] / "docs" / "schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
STORED: dict[str, tuple[type[msgspec.Struct], str]] = {
    "roles": (Roles, "roles.json"),
    "config": (TeamConfig, "teams/{team}/config.json"),
    "wanted": (Wanted, "teams/{team}/wanted.json"),
    "runtime": (Runtime, "teams/{team}/runtime.json"),
    "pin": (Pin, "pin.json"),
    "devices": (Devices, "web/devices.json"),
    "trusted": (Consent, "trusted.json"),
    "proofs": (Proofs, "proofs.json"),
    "usage": (UsageBook, "teams/{team}/usage.json"),
    "announced": (Announced, "teams/{team}/announced.json"),
    "troubles": (Troubles, "teams/{team}/troubles.json"),
    "permissions": (PermissionRequests, "teams/{team}/permissions.json"),
    "ports": (PortRanges, "teams/{team}/ports.json"),
    "environment": (Environment, "teams/{team}/environment.json"),
    "report": (Report, "teams/{team}/sessions/{incarnation}.json"),
    "store": (StorePointer, "teams/{team}/store.json"),
    "hosted": (Hosted, "teams/{team}/sessions/{incarnation}.host.json"),
    "launch": (Launch, "teams/{team}/sessions/{incarnation}.start.json"),
    "tasks": (TaskList, "tasks/{team}/tasks.json"),
    "comments": (Comments, "tasks/{team}/{task-id}/comments.json"),
    "history": (HistorySegment, "tasks/{team}/{task-id}/history/{number}.json"),
    "archive": (TaskSegment, "tasks/{team}/archive/{number}.json"),
    "messages": (Mailbox, "mailboxes/{team}/{agent-id}/messages.json"),
    "segment": (Segment, "mailboxes/{team}/{agent-id}/archive/{number}.json"),
}
"""Schema name → the type and the files, below PRO0_HOME, that it describes."""


def schema(name: str) -> dict[str, object]:
    """Return the JSON Schema of one kind of stored file."""
    type_, where = STORED[name]
    shape, parts = schema_of(type_)
    return {"$schema": DIALECT, "title": where, **shape, "$defs": parts}


def documents() -> dict[str, str]:
    """Return the text of every schema by its file name."""
    schemas = {name: schema(name) for name in STORED}
    schemas |= {name: {"$schema": DIALECT, **make()} for name, make in WRITTEN.items()}
    return {f"{name}.json": json.dumps(text, indent=2, sort_keys=True) + "\n" for name, text in schemas.items()}


def main() -> None:
    """Write all schemas, and remove the files of old ones."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = documents()
    for path in FOLDER.glob("*.json"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(texts)} schemas in docs/schema")


if __name__ == "__main__":
    main()
