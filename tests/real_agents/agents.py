"""How the real agents run by hand, without pro0."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ByHand:
    """The command lines of an agent for one prompt: to its end, and in a terminal; no question is asked in either."""

    once: tuple[str, ...]
    interactive: tuple[str, ...]


UNSANDBOXED = "--dangerously-bypass-approvals-and-sandbox"
CODEX = """
case $(codex --help </dev/null) in *--no-daemon*) exec codex --no-daemon "$@" ;; esac
exec codex "$@"
"""
"""Without the word newer versions start a server of their own; older ones do not take it."""
GEMINI = ("gemini", "--skip-trust", "-m", "gemini-2.5-pro")
YOLO = (*GEMINI, "--approval-mode", "yolo")
BARE: dict[str, tuple[str, ...]] = {
    "claude": ("claude",),
    "codex": ("sh", "-c", CODEX, "codex"),
    "opencode": ("opencode",),
    "pi": ("pi",),
    "gemini": GEMINI,
}
"""In a terminal, without a prompt."""
ASKING: dict[str, tuple[str, ...]] = {
    "claude": ("claude", "--permission-mode", "default", "--"),
    "codex": (*BARE["codex"], "-s", "workspace-write", "-a", "on-request", "--"),
    "opencode": ("env", 'OPENCODE_PERMISSION={"bash":"ask"}', "opencode", "--prompt"),
    "pi": ("pi",),
    "gemini": (*GEMINI, "-i"),
}
"""In a terminal, asking before a command is run (pi never does); the prompt follows as the last argument."""
BY_HAND: dict[str, ByHand] = {
    "claude": ByHand(("claude", "--allowedTools", "Bash", "-p", "--"), ("claude", "--allowedTools", "Bash", "--")),
    "codex": ByHand(("codex", "exec", UNSANDBOXED, "--skip-git-repo-check"), (*BARE["codex"], UNSANDBOXED, "--")),
    "opencode": ByHand(("opencode", "run"), ("opencode", "--auto", "--prompt")),
    "pi": ByHand(("pi", "-p"), ("pi",)),
    "gemini": ByHand((*YOLO, "-p"), (*YOLO, "-i")),
}
"""The prompt follows as the last argument."""
