"""The work of the demo: twelve tasks that build, test and release a small program."""

from pro0.model.task import Draft

MEMBERS = ("ada", "ben", "cleo")

LINGERS = "test counts.py"
"""The task that takes long the first time. The member that works on it is killed."""
MODULES = ("words", "counts", "table")
PROGRAM = "dist/tally.pyz"
SAMPLE, EXPECTED = "samples/text.txt", "samples/expected.txt"
TAG = "v1.0.0"

_TEST = "PYTHONPATH=src python3 -m unittest -v tests.test_{0}"
_LIMIT = 60.0


def _task(title: str, *commands: str, after: tuple[str, ...] = ()) -> Draft:
    return Draft(title=title, key=title, run=" && ".join(commands), blocked_by=after, timeout=_LIMIT)


def _write(module: str) -> Draft:
    title, path = f"write {module}.py", f"src/tally/{module}.py"
    return _task(
        title,
        f"put {path}",
        f"commit '{title}' {path}",
        f"tell '{module}.py is written: who tests it?'",
        after=("outline",),
    )


def _test(module: str) -> Draft:
    title, path = f"test {module}.py", f"tests/test_{module}.py"
    slowly = ("linger",) if title == LINGERS else ()
    commands = (f"put {path}", *slowly, _TEST.format(module), f"commit '{title}' {path}")
    return _task(title, *commands, after=(f"write {module}.py",))


TASKS = (
    _task("outline", "put README.md src/tally/__init__.py samples/text.txt", "commit outline README.md src samples"),
    *map(_write, MODULES),
    *map(_test, MODULES),
    _task(
        "write the command",
        "put src/tally/command.py",
        "python3 -m compileall -q src",
        "commit 'write the command' src/tally/command.py",
        after=tuple(f"write {module}.py" for module in MODULES),
    ),
    _task(
        "build the program",
        "mkdir -p dist",
        f"python3 -m zipapp src -m tally.command:main -o {PROGRAM}",
        f"commit 'build the program' {PROGRAM}",
        after=("write the command", *(f"test {module}.py" for module in MODULES)),
    ),
    _task(
        "try it on a text",
        f"put {EXPECTED}",
        f"python3 {PROGRAM} {SAMPLE} > samples/output.txt",
        f"diff -u {EXPECTED} samples/output.txt",
        "cat samples/output.txt",
        f"commit 'try it on a text' {EXPECTED} samples/output.txt",
        "pro0 send human 'tally counts as it should'",
        after=("build the program",),
    ),
    _task(
        "write the changelog",
        "git log --reverse --format='* %s (%an)' > CHANGELOG.md",
        "cat CHANGELOG.md",
        "commit 'write the changelog' CHANGELOG.md",
        after=("build the program",),
    ),
)
"""Eleven tasks, known from the start; `RELEASE` is asked for later."""

RELEASE = _task(
    "release it",
    "echo 1.0.0 > VERSION",
    "commit 'release it' VERSION",
    f"git tag -f {TAG}",
    f"pro0 send human 'tally {TAG} is released'",
    after=("try it on a text", "write the changelog"),
)
"""The twelfth task, reserved for the killed member after its restart."""
