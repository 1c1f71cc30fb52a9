"""Agents that the settings define: the program, its arguments, and the rules for its screen."""

from typing import Literal, NamedTuple

from pro0.model.stored import Argument, Stored


class Places(NamedTuple):
    """The places of one program's parts in `pro0/agents`, as `module:NAME`; empty for a part that it does not have."""

    adapter: str = ""
    screens: str = ""
    modes: tuple[str, ...] = ("ask", "edits", "plan", "bypass")
    """The permission modes that its adapter keeps it to; empty for a program that cannot be limited."""


PROGRAMS = {
    "acp": Places(screens="acp.screens:ACP_SCREENS"),
    "aider": Places(screens="screens.aider:AIDER_SCREENS"),
    "claude": Places("claude.adapter:CLAUDE", "claude.screens:CLAUDE_SCREENS"),
    "codex": Places("codex.adapter:CODEX", "codex.screens:CODEX_SCREENS"),
    "command": Places("command:COMMAND", modes=()),
    "copilot": Places(screens="screens.copilot:COPILOT_SCREENS"),
    "gemini": Places("gemini.adapter:GEMINI", "gemini.screens:GEMINI_SCREENS"),
    "opencode": Places("opencode.adapter:OPENCODE", "opencode.screens:OPENCODE_SCREENS"),
    "pi": Places("pi.adapter:PI", "pi.screens:PI_SCREENS"),
    "qwen": Places(screens="screens.qwen:QWEN_SCREENS"),
    "runner": Places("runner:RUNNER"),
    "shell": Places("shell:SHELL", modes=()),
}
"""The one table of the programs that pro0 knows; a new agent is one folder and one row here."""
AGENTS = {name: places.adapter for name, places in PROGRAMS.items() if places.adapter}
"""pro0's own agents, whose names nobody else's agent may have."""
DRAWN = {name: places.screens for name, places in PROGRAMS.items() if places.screens}
"""The programs whose screens pro0 can read."""


def offered() -> list[str]:
    """Return pro0's own agents that a person may name: `pro0 run` alone starts a runner."""
    return [name for name in AGENTS if name != "runner"]


class Signs(Stored, frozen=True):
    """Words by which the state of a program is known: found anywhere on its screen, taken as they are."""

    prompt: str
    """How the row begins in which a person types."""
    waiting: tuple[str, ...] = ()
    dialog: tuple[str, ...] = ()
    working: tuple[str, ...] = ()
    error: tuple[str, ...] = ()


class Modes(Stored, frozen=True):
    """The words for each permission mode, None for one that is not known."""

    ask: tuple[Argument, ...] | None = None
    edits: tuple[Argument, ...] | None = None
    plan: tuple[Argument, ...] | None = None
    bypass: tuple[Argument, ...] | None = None

    def words(self, mode: str) -> tuple[str, ...] | None:
        """Return the words for a mode."""
        return {"ask": self.ask, "edits": self.edits, "plan": self.plan, "bypass": self.bypass}[mode]

    @property
    def known(self) -> list[str]:
        """Return the modes that are known."""
        return [mode for mode in self.__struct_fields__ if self.words(mode) is not None]


class Definition(Stored, frozen=True):
    """An agent as the settings define it; a seat keeps the one that it was spawned with."""

    argv: tuple[Argument, ...] = ()
    """The words that start it: {prompt}, {prompt_file}, {model}, {effort} stand for what a session is given, and the
    word {options} for `model`, `effort` and the words of its permission mode, which else follow the program."""
    acp: tuple[Argument, ...] = ()
    """The words that start a program that speaks the Agent Client Protocol, in place of `argv`; pro0 tells it its
    prompt, draws it, and carries its mail and its permissions."""
    turn: tuple[Argument, ...] = ()
    """The words that start it for one turn of `pro0 run`, which it does to its end without a terminal, its last message
    on stdout; without {prompt} and {prompt_file} it reads its prompt from stdin. Empty for one that does no turns."""
    environment: tuple[str, ...] = ()
    """The variables that only this agent gets; NAME* is all that begin so."""
    modes: Modes | None = None
    """The words for each permission mode that it knows; None for a program that cannot be limited."""
    model: tuple[Argument, ...] = ()
    """The words that choose a model, with {model}."""
    effort: tuple[Argument, ...] = ()
    own_commands: tuple[Argument, ...] = ()
    """The words that let it run one command of pro0 without asking, with {command}: given once for each of them."""
    nudge: bool = False
    """Whether one line is typed into its pane when it has mail."""
    screens: str | Signs | None = None
    """How its screen is read: as that of a program that pro0 knows, or by these signs."""
    shutdown: Literal["terminate", "ask"] = "terminate"
    """Whether it is ended when it should shut down, or asked, and answers with `pro0 shutdown`; with `acp` always
    asked."""
    install: str = ""
    """How to get the program, for who does not have it."""

    @property
    def instructed(self) -> bool:
        """Return True when the program gets instructions at its start."""
        return bool(self.acp) or is_told(self.argv)

    @property
    def is_fed(self) -> bool:
        """Return True when the agent is told of its mail."""
        return self.nudge or bool(self.acp)

    @property
    def answers_shutdown(self) -> bool:
        """Return True when the agent is asked to shut down, instead of being ended."""
        return self.shutdown == "ask" or bool(self.acp)


def modes_of(agent: str, definition: Definition | None) -> tuple[str, ...]:
    """Return the permission modes of an agent, as its definition or its row says; empty for one without limits."""
    if definition:
        return tuple(definition.modes.known) if definition.modes else ()
    return PROGRAMS[agent].modes if agent in PROGRAMS else ()


def is_told(words: tuple[str, ...]) -> bool:
    """Return True when a program with these arguments gets instructions."""
    return any("{prompt}" in word or "{prompt_file}" in word for word in words)
