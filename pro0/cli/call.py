"""One call of the program: errors become exit codes and two lines on stderr."""

import os
import sys
from typing import cast

import click

from pro0 import REPOSITORY, __version__
from pro0.cli.commands import COMMANDS, GROUPS, HIDDEN
from pro0.cli.interrupts import INTERRUPTED, is_interrupt
from pro0.cli.lazy import LazyGroup, helped
from pro0.cli.output import REMINDERS, drop, line, say, unprinted, write, write_error
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Pro0Error

HELP = """Run a team of coding agents in your terminal: a lead, a shared task list, mailboxes, clean endings.

\b
Examples:
  pro0 team start alpha -m w1=shell -m w2=shell
  pro0 task create "build it" --run "make"
  pro0 team wait && pro0 team stop && pro0 team cleanup alpha
"""

MORE = """Learn more: every command has --help with examples, and pro0 man COMMAND shows its page. pro0 needs says
what waits for you, and pro0 doctor says what is wrong."""


def _print_version(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        from pro0.installation import about

        write(f"pro0 {__version__} ({about()})")
        context.exit()


program = click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Show the version."
)(LazyGroup("pro0", COMMANDS, HELP, hidden=HIDDEN, groups=GROUPS, more=MORE))
helped(program)


@program.result_callback()
@click.pass_context
def _remind(context: click.Context, _result: object) -> None:
    """Remind a person at a terminal of what needs them, after a command that looked at a team (behaviour 3.8)."""
    reminders = context.meta.get(REMINDERS)
    if reminders and sys.stdout.isatty() and sys.stderr.isatty():
        sys.stdout.flush()
        for reminder in reminders():
            say(f"hint: {reminder}")


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code. Every error is printed in the common form."""
    _open_streams()
    _printable_streams()
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
        return 1
    except OSError as error:
        drop(sys.stdout)
        return report(unprinted(error), as_json=False)
    return code


def report(error: Pro0Error, *, as_json: bool) -> int:
    """Print an error on stderr, and return its exit code."""
    lines = [f"pro0: {line(error.message)}"]
    if error.hint:
        lines.append(f"hint: {line(error.hint)}")
    if as_json:
        from pro0.cli.output import json_text

        body = {"code": error.code, "message": error.message, "hint": error.hint}
        lines.append(json_text({"error": body}, indent=0))
    write_error("\n".join(lines))
    return error.exit_code


def failed(error: Exception) -> int:
    """Print the error that ended a program without a command line, and return the exit code."""
    _printable_streams()
    return INTERRUPTED if is_interrupt(error) else report(_known(error), as_json=False)


def _invoke(arguments: list[str]) -> int:
    as_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    try:
        code = program.main(args=arguments, prog_name="pro0", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except Pro0Error as error:
        sys.stdout.flush()
        return report(error, as_json=as_json)
    except click.ClickException as error:
        return report(_usage(error, arguments), as_json=as_json)
    except click.Abort as error:
        if error.__cause__ is None:  # it broke off a question, and click has left its line open
            write_error("")
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except SystemExit as error:  # click's own answer to a closed pipe, and to a completion request
        return error.code if isinstance(error.code, int) else 1
    except Exception as error:  # noqa: BLE001 - the last line of defence against a traceback
        if is_interrupt(error):
            return INTERRUPTED
        if isinstance(error, OSError) and _stdout_fails():
            return 1  # `run` reports it
        return report(_known(error), as_json=as_json)


def _stdout_fails() -> bool:
    """Return True when stdout still holds output that it cannot write, such as click's own help."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _open_streams() -> None:
    """Open each standard stream that was closed before the start; output for a closed stdout goes to stderr.

    Otherwise the next opened file would get the number of that stream, perhaps a document of the store.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as long as the program runs
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = sys.stderr


def _usage(error: click.ClickException, arguments: list[str]) -> BadInput:
    context = getattr(error, "ctx", None)
    hint = f"{context.command_path if context else _called(arguments)} --help"
    message = " ".join(error.format_message().split())
    return BadInput(f"{message[:1].lower()}{message[1:].removesuffix('.')}", code=ErrorCode.USAGE, hint=hint)


def _called(arguments: list[str]) -> str:
    """Return the command that was called, for an error of click's that does not know it."""
    path, command = "pro0", cast(click.Command, program)
    for word in arguments:
        inner = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        if inner is None:
            break
        path, command = f"{path} {word}", inner
    return path


def _known(error: Exception) -> Pro0Error:
    if isinstance(error, Pro0Error):
        return error
    if isinstance(error, FileNotFoundError) and _nowhere():
        hint = "cd to another one, or run cd . if it was created again"
        return EnvironmentMissing(
            "the current directory does not exist any more", code=ErrorCode.NO_DIRECTORY, hint=hint
        )
    hint = "this is a bug in pro0; PRO0_DEBUG=1 shows where"
    if os.environ.get("PRO0_DEBUG") == "1":
        import traceback

        traceback.print_exc()
        where = f" at {REPOSITORY}/issues" if REPOSITORY else ""
        hint = f"this is a bug in pro0; please report the lines above{where}"
    return Pro0Error(f"internal error: {type(error).__name__}: {error}", code=ErrorCode.INTERNAL, hint=hint)


def _nowhere() -> bool:
    """Return True when the current directory was removed, such as a member's former worktree."""
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def _printable_streams() -> None:
    """Make the streams escape characters that their encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
