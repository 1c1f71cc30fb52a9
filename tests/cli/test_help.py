"""Help: every command explains itself, with an example (design, People)."""

import inspect
import os
import re
import subprocess
import sys

import click
import pytest

from pro0.cli.commands import COMMANDS, GROUPS, HIDDEN
from pro0.cli.help.sections import SectionedCommand
from pro0.cli.lazy import HintingGroup, LazyGroup
from pro0.ops.context import Context
from tests.cli.conftest import Pro0, commands
from tests.waiting import STUCK
from tools.meanings import TASK_KEYS

EVERY = dict(commands())


@pytest.mark.parametrize("name", EVERY)
def test_help_has_an_example_and_loads_no_engine(name: str, pro0: Pro0) -> None:
    called = pro0(*name.split()[1:], "--help")
    assert called.code == 0
    assert not called.err
    _, found, examples = called.out.partition("Examples:\n")
    assert found, called.out
    assert "    pro0 " in examples or f"{name}" in examples


@pytest.mark.parametrize("name", EVERY)
def test_options_are_explained(name: str) -> None:
    for parameter in EVERY[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.opts


def test_limits_of_numbers_are_words(pro0: Pro0) -> None:
    assert "[1 to 65535]" in pro0("web", "--help").out
    assert "0 and above]" in pro0("team", "logs", "--help").out
    assert "0 is not in the range 1 to 10000" in pro0("member", "peek", "w1", "-n", "0").err


@pytest.mark.parametrize("name", [name for name in EVERY if any(p.name == "as_json" for p in EVERY[name].params)])
def test_what_json_prints_is_documented(name: str) -> None:
    assert "--json" in (EVERY[name].help or "")


def test_the_line_of_the_table_is_the_first_of_the_help() -> None:
    for group in [command for command in EVERY.values() if isinstance(command, LazyGroup)]:
        for name, (_, line) in group.rows.items():
            command = group.get_command(click.Context(group), name)
            assert command
            first = inspect.cleandoc(command.help or "").splitlines()[0]
            assert first.startswith(line), (name, first)


def test_a_group_without_a_table_says_whole_what_each_command_does(pro0: Pro0) -> None:
    groups = {
        name: command
        for name, command in EVERY.items()
        if isinstance(command, HintingGroup) and not isinstance(command, LazyGroup)
    }
    assert groups
    for name, group in groups.items():
        _, _, shown = pro0(*name.split()[1:], "--help").out.partition("Commands:")
        told = " ".join(shown.split()) + " "
        for one, command in group.commands.items():
            first = re.split(r"\.(?:\s|$)", inspect.cleandoc(command.help or ""))[0]
            assert (f"{one} {' '.join(first.split())} " in told) is not command.hidden


READING = """team list, team status, team wait, team logs, member list, member show, member env, task list, task show,
task ready, task next, task tree, inbox, config, config get, doctor"""


@pytest.mark.parametrize("name", re.split(r",\s", READING))
def test_every_reading_command_has_json(name: str) -> None:
    assert any(parameter.name == "as_json" for parameter in EVERY[f"pro0 {name}"].params)


def lines_of_options(text: str) -> list[str]:
    """Return what begins each line of a help about an option."""
    return re.findall(r"^  (?:-\w, )?(--?[\w-]+)", text, re.MULTILINE)


@pytest.mark.parametrize("name", EVERY)
def test_many_options_are_in_sections_and_none_is_lost(name: str) -> None:
    """Issue 18, build 7: a dozen can be read as one list."""
    command = EVERY[name]
    context = click.Context(command, info_name=name, help_option_names=["-h", "--help"])
    shown = [one for one in command.get_params(context) if isinstance(one, click.Option) and not one.hidden]
    _, found, text = command.get_help(context).partition("Examples:\n")
    assert found
    assert sorted(lines_of_options(text)) == sorted(first_of(one) for one in shown)
    assert isinstance(command, SectionedCommand) == (len(shown) > 13)
    if isinstance(command, SectionedCommand):
        assert re.findall(r"^(\w.*):$", text, re.MULTILINE) == [*command.sections, "Other options"]
        assert len(shown) - sum(map(len, command.sections.values())) <= 5


def first_of(option: click.Option) -> str:
    """Return the first long name of an option, else its short one."""
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


OF_ANY_COMMAND = {"--team", "--json", "-o", "--no-wait", "--headless"}
"""Options that say where a command looks, how it prints and whether it waits."""
SECTIONED = {name: command for name, command in EVERY.items() if isinstance(command, SectionedCommand)}


@pytest.mark.parametrize("name", SECTIONED)
def test_each_option_of_the_command_itself_is_in_a_section(name: str) -> None:
    command = SECTIONED[name]
    named = {name for names in command.sections.values() for name in names}
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    others = {one.opts[-1] for one in options} - named
    assert others <= OF_ANY_COMMAND, others


def test_the_help_of_task_create_names_each_key_of_a_file_of_tasks() -> None:
    text = " ".join(str(EVERY["pro0 task create"].help).split())
    keys = text.partition("A task has the keys ")[2].partition(";")[0]
    assert set(keys.replace(" and ", ", ").split(", ")) == {*TASK_KEYS, "blockedBy"} - {"blocked_by"}


def test_groups_of_a_help_have_each_command_once() -> None:
    for group in [command for command in EVERY.values() if isinstance(command, LazyGroup)]:
        # click keeps the help options of the first look, so this one names them as the program does
        context = click.Context(group, help_option_names=["-h", "--help"])
        shown = re.findall(r"^  (\S+)  ", group.get_help(context).partition("Examples:")[2], re.MULTILINE)
        assert sorted(set(shown) & set(group.rows)) == sorted(group.list_commands(context))


def test_the_commands_of_the_issue_are_there() -> None:
    wanted = """team start list status attach resume stop wait cleanup logs pause unpause
    member spawn restart list show peek env shutdown
    task create list show ready next claim release complete fail update assign comment cancel reopen delete tree
    shutdown approve reject
    config get"""
    for line in wanted.splitlines():
        noun, *verbs = line.split()
        for verb in verbs:
            assert f"pro0 {noun} {verb}" in EVERY
    for name in ["send", "broadcast", "inbox", "config", "doctor", "completion", "man", "lead"]:
        assert f"pro0 {name}" in EVERY


def test_a_group_without_a_command_shows_its_help_on_stderr(pro0: Pro0) -> None:
    called = pro0("task")
    assert (called.code, called.out) == (2, "")
    assert "\nMake and see:\n" in called.err


def test_the_hidden_lead_is_in_no_list(pro0: Pro0) -> None:
    assert "\n  lead " not in pro0("--help").out


@pytest.mark.parametrize(
    "arguments", [["-m", "pro0"], ["-c", "from pro0.cli.main import entry; raise SystemExit(entry())"]]
)
def test_the_program_can_be_called_in_both_ways(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, *arguments, "--version"], capture_output=True, text=True, timeout=STUCK)
    assert (done.returncode, done.stdout.split()[0]) == (0, "pro0")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, pro0: Pro0) -> None:
    called = pro0("completion", shell)
    assert called.code == 0
    assert "_PRO0_COMPLETE" in called.out


def offered_by_bash(script: str, offer: str) -> list[str]:
    """Return the words that bash would insert when the program answers with this line."""
    call = f'env() {{ echo "$OFFER"; }}\n{script}\nCOMP_WORDS=(pro0 x); COMP_CWORD=1; _pro0_completion pro0\n'
    shown = 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", call + shown], capture_output=True, text=True, timeout=STUCK, env=os.environ | {"OFFER": offer}
    )
    return done.stdout.splitlines()


def test_bash_inserts_a_name_with_spaces_as_one_word(pro0: Pro0) -> None:
    """A layout is a file, whose name may be anything."""
    script = pro0("completion", "bash").out
    assert offered_by_bash(script, "plain,my team, the *") == ["my\\ team\\,\\ the\\ \\*"]
    assert offered_by_bash(script, "plain,task-1") == ["task-1"]


def test_fish_shows_a_description_with_commas_whole(pro0: Pro0) -> None:
    assert 'string split --max 1 "," $completion' in pro0("completion", "fish").out


def test_a_title_controls_no_terminal_that_completes_it(
    pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent writes titles, and zsh prints a description as it is."""
    pro0("task", "create", "red \x1b[31m\tand on")
    monkeypatch.setenv("_PRO0_COMPLETE", "zsh_complete")
    monkeypatch.setenv("COMP_WORDS", "pro0 task show ")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert pro0().out == "plain\ntask-1\nred \\x1b[31m\\tand on\n"


def test_completion_completes(pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PRO0_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "pro0 task cla")
    monkeypatch.setenv("COMP_CWORD", "2")
    called = pro0()
    assert (called.code, called.out) == (0, "plain,claim\n")


@pytest.mark.parametrize("name", EVERY)
def test_help_is_asked_for_in_three_ways(name: str, pro0: Pro0) -> None:
    words = name.split()[1:]
    asked = pro0(*words, "--help")
    assert asked.code == 0
    assert pro0(*words, "-h") == asked
    assert pro0("help", *words) == asked


@pytest.mark.parametrize("group", ["team", "member", "task", "role", "worker", "agent", "config"])
def test_every_list_is_there_as_ls_or_list(group: str, pro0: Pro0) -> None:
    word = "list" if group == "config" else "ls"
    assert f"pro0 {group} list" in pro0(group, word, "--help").out.replace(f"{group} ls", f"{group} list")


def test_the_help_shows_every_command_in_one_group() -> None:
    shown = [name for names in GROUPS.values() for name in names]
    assert sorted(shown) == sorted(COMMANDS.keys() - HIDDEN)


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("layout", "pro0-layout - layouts"),
        ("5 config", "pro0-config - settings of pro0"),
        ("config", "pro0-config - Show the settings"),
        ("7 hooks", "pro0-hooks - commands"),
        ("reliability", "pro0-reliability - what pro0 promises"),
    ],
)
def test_pages_on_what_is_no_command_are_shown(words: str, page: str, pro0: Pro0) -> None:
    assert page in pro0("man", *words.split()).out
    assert pro0("man", "7", "layout").code == 3
