"""Agents that the settings define: the program, its arguments, and the rules for its screen."""

from typing import Literal, NamedTuple

from pro0.model.stored import Argument, Stored


class Places(NamedTuple):
    """The places of one program's parts in `pro0/agents`, as `module:NAME`; empty for a part that it does not have."""

    adapter: str = ""
    screens: str = ""
    modes: tuple[str, ...] = ("ask", "edits", "plan", "bypass")
    """The permission modes that its adapter can enforce; empty for a program that cannot be limited."""


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
"""pro0's own agents; no agent of the settings may have one of these names."""
DRAWN = {name: places.screens for name, places in PROGRAMS.items() if places.screens}
"""The programs whose screens pro0 can read."""


def offered() -> list[str]:
    """Return pro0's own agents that a person may name: `pro0 run` alone starts a runner."""
    return [name for name in AGENTS if name != "runner"]


class Signs(Stored, frozen=True):
    """Texts that show the state of a program: found anywhere on its screen, and not read as patterns."""

    prompt: str
    """The beginning of the row in which a person types."""
    waiting: tuple[str, ...] = ()
    dialog: tuple[str, ...] = ()
    working: tuple[str, ...] = ()
    error: tuple[str, ...] = ()


class Modes(Stored, frozen=True):
    """The command-line words for each permission mode, None for a mode that the program does not have."""

    ask: tuple[Argument, ...] | None = None
    edits: tuple[Argument, ...] | None = None
    plan: tuple[Argument, ...] | None = None
    bypass: tuple[Argument, ...] | None = None

    def words(self, mode: str) -> tuple[str, ...] | None:
        """Return the command-line words for a mode, None for a mode without any."""
        return {"ask": self.ask, "edits": self.edits, "plan": self.plan, "bypass": self.bypass}[mode]

    @property
    def known(self) -> list[str]:
        """Return the modes that the program has."""
        return [mode for mode in self.__struct_fields__ if self.words(mode) is not None]


class Definition(Stored, frozen=True):
    """An agent as the settings define it; a seat keeps the definition with which it was spawned."""

    argv: tuple[Argument, ...] = ()
    """The command line that starts it. {prompt}, {prompt_file}, {model} and {effort} stand for values of the session,
    {options} for `model`, `effort` and the words of its permission mode. Without {options} these follow the program."""
    acp: tuple[Argument, ...] = ()
    """The command line of a program that speaks the Agent Client Protocol, in place of `argv`. pro0 gives it its
    prompt, draws its screen, and carries its mail and its permissions."""
    turn: tuple[Argument, ...] = ()
    """The command line for one whole turn of `pro0 run`, without a terminal, with the last message on stdout. Without
    {prompt} and {prompt_file} it reads its prompt from stdin. Empty for a program that does no turns."""
    environment: tuple[str, ...] = ()
    """The variables that this agent gets besides the usual ones; NAME* means all with this prefix."""
    modes: Modes | None = None
    """The words for each permission mode that it knows; None for a program that cannot be limited."""
    model: tuple[Argument, ...] = ()
    """The command-line words that choose a model; they contain {model}."""
    effort: tuple[Argument, ...] = ()
    own_commands: tuple[Argument, ...] = ()
    """The command-line words that let it run one command of pro0 without asking; repeated for each {command}."""
    nudge: bool = False
    """Whether one line is typed into its pane when it has mail."""
    screens: str | Signs | None = None
    """How its screen is read: as that of a program that pro0 knows, or by these signs."""
    shutdown: Literal["terminate", "ask"] = "terminate"
    """How it shuts down: it is ended, or it is asked and answers with `pro0 shutdown`. With `acp` it is always
    asked."""
    install: str = ""
    """How to install the program, for people who do not have it."""

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
