"""Server-sent events, in which every family of API streams its answers."""

import json

from pro0.scripted_model.request import Json


def event(data: Json, name: str = "") -> bytes:
    """Return one event as it goes over the wire."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
