"""A request of an agent to its model, the same for all families of API."""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
"""A body as the agent sent it; its shape belongs to the agent's maker."""


@dataclass(frozen=True)
class Utterance:
    """One piece of a conversation: somebody's words, or a tool's answer."""

    who: str
    """system, user, assistant or tool"""
    text: str


@dataclass(frozen=True)
class ModelRequest:
    """What an agent asks of its model."""

    family: str
    model: str
    entries: tuple[Utterance, ...]
    tools: dict[str, str]
    """The offered tools: name → namespace, which is empty except for MCP tools in codex."""
    stream: bool
    body: Json

    @property
    def aside(self) -> bool:
        """Tell whether this is one of the agent's own small questions, such as for a title: it offers no tools."""
        return not self.tools

    @property
    def opening(self) -> str:
        """Return all that was said before the model's first answer: the instructions and the first prompt."""
        authors = [entry.who for entry in self.entries]
        return "\n".join(
            entry.text for entry in self.entries[: authors.index("assistant") if "assistant" in authors else None]
        )

    @property
    def heard(self) -> str:
        """Return all that the user said."""
        return "\n".join(entry.text for entry in self.entries if entry.who == "user")

    @property
    def news(self) -> tuple[Utterance, ...]:
        """Return the pieces after the model's last answer: results of tools, and texts of the user."""
        authors = [entry.who for entry in reversed(self.entries)]
        return self.entries[len(authors) - authors.index("assistant") :] if "assistant" in authors else self.entries

    def results(self) -> list[str]:
        """Return the answers of the last tool calls."""
        return [entry.text for entry in self.news if entry.who == "tool"]
