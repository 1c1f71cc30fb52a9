"""The program. `--version` and `mcp` are answered before anything else is imported, even click."""

import os
import sys

from pro0 import __version__
from pro0.cli import interrupts

PATIENCE = 100_000
"""Objects until the first garbage collection. Imports make no garbage, and a lead's imports need half of these.

Collections would take a tenth of the time of a short call.
"""

SHORT = {
    "send": "",
    "broadcast": "",
    "inbox": "",
    "needs": "",
    "task": "list show ready blocked next tree query claim release complete fail assign comment update block unblock "
    "create add done note add-note get ls dep undep",
    "team": "list status show",
    "member": "list show",
}
"""The commands that a warm process may carry out, each with its subcommands."""


def entry() -> int:
    """Run the program as the shell called it; returns the exit code."""
    interrupts.leave_at_once()
    if "PRO0_HOSTED" in os.environ and not is_about_itself(sys.argv[1:]):
        return _hosted(os.environ["PRO0_HOSTED"], sys.argv[1:])
    short = is_short(sys.argv[1:])
    if short:
        from pro0.cli.warm.client import call

        if (code := call(sys.argv[1:])) is not None:
            os._exit(code)  # all is written, and the interpreter ends slowly
    try:
        code = main(sys.argv[1:])
        if short:
            os._exit(code)  # likewise: nothing that it started is still at work
        return code
    except KeyboardInterrupt:
        return interrupts.INTERRUPTED
    finally:
        import gc

        interrupts.leave_at_once()
        interrupts.forget()
        gc.freeze()  # no collection at the end: it took a fifth of a short call


def _hosted(folder: str, arguments: list[str]) -> int:
    """Carry out a call from a session for another machine's team: there, except for the agent's own parts."""
    if arguments == ["mcp"]:
        from pro0.cli.mcp import serve_there

        return serve_there(folder)
    if arguments == ["hosted", "shell"]:
        from pro0.cli.member.hosted import work_there

        return work_there(folder)
    if arguments == ["hosted", "gemini"]:
        from pro0.cli.member.hosted import make_gemini_home

        return make_gemini_home(folder)
    if arguments == ["member", "permission-hook"]:
        from pro0.link.permission import ask_from_there

        return ask_from_there(folder)
    from pro0.link.calling import call_home

    return call_home(folder, arguments)


def main(arguments: list[str]) -> int:
    """Run the program with these arguments; returns the exit code."""
    if arguments == ["--version"]:
        from pro0.installation import about

        sys.stdout.write(f"pro0 {__version__} ({about()})\n")
        return 0
    if arguments == ["mcp"]:  # an agent waits for it, and it needs no parser
        from pro0.mcp.server import serve

        return serve()
    import gc

    gc.set_threshold(PATIENCE)
    if _is_lead(arguments):
        return _lead(arguments)
    from pro0.cli.call import run

    interrupts.as_usual()
    return run(arguments)


def _is_lead(arguments: list[str]) -> bool:
    """Return True for the call by which pro0 starts a lead: a team waits for it, and it needs no parser."""
    if arguments[:1] != ["lead"] or arguments[1:2] == [] or arguments[2:] not in ([], ["--revived"]):
        return False
    return not arguments[1].startswith("-") and None not in (sys.stdin, sys.stdout, sys.stderr)


def _lead(arguments: list[str]) -> int:
    try:
        from pro0.cli.leading import lead

        interrupts.as_usual()
        return lead(arguments[1], revived=len(arguments) > 2)
    except Exception as error:  # noqa: BLE001 - the code to report it is loaded only now
        from pro0.cli.call import failed

        return failed(error)


def is_about_itself(arguments: list[str]) -> bool:
    """Return True for a call about this machine's own pro0: its version or its help."""
    return not arguments or arguments == ["--version"] or not {"-h", "--help"}.isdisjoint(arguments)


def is_short(arguments: list[str]) -> bool:
    """Return True if a warm process may carry this out: it asks nothing, opens nothing and does not wait."""
    if "_PRO0_COMPLETE" in os.environ:
        return True
    subcommands = SHORT.get(arguments[0] if arguments else "")
    return (
        subcommands is not None
        and (not subcommands or (arguments[1:2] != [] and arguments[1] in subcommands.split()))
        and not any(argument.startswith(("--wait", "--watch")) for argument in arguments)
    )
