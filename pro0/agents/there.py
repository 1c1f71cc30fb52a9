"""How a shell of another machine starts an agent: the words are all that it gets.

What stands in files here goes there as words, and is written into the folder of the session there.
"""

from collections.abc import Mapping

FOLDER = "$PRO0_HOSTED"
"""The folder of a session there, as that shell knows it."""
_FILES = f"""
umask 077
until [ "$1" = -- ]; do printf %s "$2" >"{FOLDER}/$1" || exit 73; shift 2; done
shift
"""


def installed(program: str) -> str:
    """Return the line of a script that ends where there is no such program, and says so."""
    return f'command -v {program} >/dev/null || {{ echo "cannot start {program}: it is not installed here"; exit 69; }}'


def started(program: str, line: str, files: Mapping[str, str], *words: str) -> tuple[str, ...]:
    """Return the command that writes these files, and becomes the program.

    `line` is the script's last one. In it `"$@"` are the words, and FOLDER/NAME is a file.
    """
    given = [part for name, text in files.items() for part in (name, text)]
    return ("/bin/sh", "-c", f"{installed(program)}{_FILES}{line}\n", program, *given, "--", *words)
