"""Words that do not belong: in module names, in calls, and file names outside the one place for them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source import ROOT, Modules, package, sample, strings

NAMES = re.compile(r"(utils?|helpers?|common|misc|managers?|handlers?)")
BY_NAME = re.compile(r"\b(pkill|killall)\b")
FILE_NAME = re.compile(r"\S*\.(json|jsonl|jsonc|lock|yaml|yml)")
SPELLS_FILE_NAMES = {
    "pro0.store.paths": "the one place",
    "pro0.store.root": "the part of it that imports next to nothing",
    "pro0.config.files": "the settings files, which are not part of the store; config and store do not know each other",
}
FOREIGN = {
    ("pro0.sessions.tmux.socket", ".lock"): "the lock that tmux itself keeps beside a socket",
    ("pro0.installation", "direct_url.json"): "what installers write beside a package",
    ("pro0.resources", "prices.json"): "a part of the program",
}
AGENTS = ("pro0.agents.", "pro0.scripted_model.")
"""The modules that know the files of other programs, which are no part of the store."""
CODE = ("pro0", "tests", "bench", "tools")
SCRIPTS = ("Makefile", ".ci/run", "tools/setup", "tools/install")


def banned_names(paths: list[Path]) -> Iterator[str]:
    """Yield the modules and folders with a name that says nothing."""
    for path in paths:
        words = [word for part in path.with_suffix("").parts for word in part.split("_")]
        yield from (f"{path}: {word}" for word in words if NAMES.fullmatch(word))


def banned_calls(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield calls that end processes by a broad name, use a shell by the way, lose work, or hide every error."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                yield f"{name}:{node.value.lineno} shell=True"
            case ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen"):
                yield f"{name}:{node.lineno} os.{node.attr}"
            case ast.ExceptHandler(type=None):
                yield f"{name}:{node.lineno} a bare except"
            case ast.List(elts=words) | ast.Tuple(elts=words) | ast.Call(args=words) if drops_branch(words):
                yield f"{name}:{node.lineno} drops a branch by force"
    for text in strings(tree):
        if BY_NAME.search(str(text.value)) or "branch -D" in str(text.value):
            yield f"{name}:{text.lineno} {text.value!r}"


def drops_branch(words: list[ast.expr]) -> bool:
    said = [word.value for word in words if isinstance(word, ast.Constant)]
    return "branch" in said and "-D" in said


def file_names(modules: Modules) -> Iterator[str]:
    """Yield strings that spell a file of the store outside of store/paths.py."""
    for name, tree in modules.items():
        for text in strings(tree) if name not in SPELLS_FILE_NAMES and not name.startswith(AGENTS) else ():
            if FILE_NAME.fullmatch(str(text.value)) and (name, text.value) not in FOREIGN:
                yield f"{name}:{text.lineno} {text.value!r}"


def python_files() -> list[Path]:
    return [path.relative_to(ROOT) for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))]


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not list(banned_names(python_files()))


def test_no_banned_call() -> None:
    problems = [
        problem
        for path in python_files()
        if path.name != Path(__file__).name
        for problem in banned_calls(str(path), ast.parse((ROOT / path).read_bytes()))
    ]
    assert not problems, "\n".join(problems)


def test_no_script_ends_processes_by_name() -> None:
    assert not [script for script in SCRIPTS if BY_NAME.search((ROOT / script).read_text(encoding="utf-8"))]


def test_only_one_module_spells_file_names() -> None:
    problems = list(file_names(package()))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "path", ["pro0/utils.py", "pro0/store/task_manager.py", "pro0/common/x.py", "tests/helpers.py"]
)
def test_an_empty_name_is_found(path: str) -> None:
    assert list(banned_names([Path(path)]))


def test_other_names_pass() -> None:
    assert not list(banned_names([Path("pro0/store/mailbox.py"), Path("pro0/engine/handle.py")]))


@pytest.mark.parametrize(
    "source",
    [
        "run('x', shell=True)",
        "os.system('x')",
        "os.popen('x')",
        "try:\n    x\nexcept:\n    pass",
        "run(['git', 'branch', '-D', name])",
        "git('branch', '-D', name)",
        "run('git branch -D x')",
        "run(['pkill', '-f', 'x'])",
        "run(f'killall {x}')",
    ],
)
def test_a_banned_call_is_found(source: str) -> None:
    assert list(banned_calls("x", ast.parse(source)))


def test_other_calls_pass() -> None:
    source = (
        'run(["/bin/sh", "-c", task.run])\nrun(x, shell=False)\nrun(["git", "branch", "-d", name])\n'
        'def f():\n    """Unlike pkill, it asks."""\n    try:\n        x\n    except ValueError:\n        pass'
    )
    assert not list(banned_calls("x", ast.parse(source)))


@pytest.mark.parametrize("source", ["x = 'tasks.json'", "x = f'{n}.lock'", "x = folder / 'a.yaml'", "x = '.jsonl'"])
def test_a_file_name_elsewhere_is_found(source: str) -> None:
    assert list(file_names(sample(store__tasks=source)))
    assert not list(file_names(sample(store__paths=source)))


def test_prose_about_a_file_passes() -> None:
    assert not list(file_names(sample(a='"""Writes tasks.json"""\nx = "the team is in config.json"')))
