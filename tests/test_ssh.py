"""Commands on other machines, over a real sshd."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pro0 import ssh
from pro0.errors import BadInput, EnvironmentMissing
from tests import sshd
from tests.living import ended
from tests.sshd import Machine
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())


@pytest.fixture(scope="module")
def build1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with sshd.machine(tmp_path_factory.mktemp("hosts") / "build1") as made:
        yield made


@pytest.mark.parametrize("name", ["build1", "ada@build1", "10.0.0.7", "ada@[::1]", "a_b-c.example"])
def test_a_host_is_a_name_of_openssh(name: str) -> None:
    """Issue 19, build 1."""
    assert ssh.host(name) == name


@pytest.mark.parametrize("name", ["", "-oProxyCommand=id", "a b", "a;b", "a\n", "$(id)", "x" * 300, "a/b"])
def test_what_ssh_or_a_shell_could_take_for_something_else_is_no_host(name: str) -> None:
    """Issue 19, build 1."""
    with pytest.raises(BadInput):
        ssh.host(name)


@pytest.mark.parametrize("words", [("echo", "a b"), ("echo", "$HOME", "'", '"', ";id"), ("printf", "%s", "\\n*")])
def test_words_arrive_there_as_they_are(build1: Machine, words: tuple[str, ...]) -> None:
    """Issue 19, build 1."""
    answer = ssh.run(build1.ssh, "build1", words, 30)
    assert answer.code == 0
    assert answer.out.decode().rstrip("\n") == (" ".join(words[1:]) if words[0] == "echo" else words[2])


def test_the_exit_code_and_the_errors_come_back(build1: Machine) -> None:
    """Issue 19, build 1."""
    answer = ssh.run(build1.ssh, "build1", ("sh", "-c", "echo no >&2; exit 7"), 30)
    assert (answer.code, answer.errors) == (7, "no")


def test_nothing_of_this_machine_is_lent(build1: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, build 3: no keys of here there, though the person's config says so."""
    config = build1.at / "lending"
    config.write_text((build1.at / "client").read_text() + "  ForwardAgent yes\n  SendEnv PRO0_SECRET\n")
    monkeypatch.setenv("SSH_AUTH_SOCK", str(build1.at / "agent"))
    answer = ssh.run(f"ssh -F {config}", "build1", ("env",), 30)
    names = {line.partition("=")[0] for line in answer.out.decode().splitlines()}
    assert "SSH_CONNECTION" in names
    assert not names & {"SSH_AUTH_SOCK", "PRO0_SECRET", "DISPLAY"}


def test_commands_of_the_persons_config_are_not_run(build1: Machine) -> None:
    """Who has a host open tmux there, or name their window here, has neither in the way; scp does it so too."""
    config, opens = build1.at / "opening", "  RemoteCommand tmux new -A -s main\n  RequestTTY yes\n"
    names = "  PermitLocalCommand yes\n  LocalCommand echo named\n"
    config.write_text((build1.at / "client").read_text() + opens + names)
    answer = ssh.run(f"ssh -F {config}", "build1", ("echo", "ours"), 30)
    assert (answer.code, answer.out) == (0, b"ours\n")


def test_the_home_in_the_command_is_the_persons(build1: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes `ssh -F ~/.ssh/teams` has it in quotes, where no shell reads it."""
    monkeypatch.setenv("HOME", str(build1.at))
    assert ssh.run("ssh -F ~/client", "build1", ("echo", "~"), 30).out == b"~\n"
    assert ssh.known("ssh -F ~/client") == ["build1"]


def test_a_connection_of_the_persons_is_shared_and_never_made(build1: Machine) -> None:
    """Who makes a shared one ends all that go over it when it ends (behaviour 3.32)."""
    place = Path(tempfile.mkdtemp(prefix="pro0-ssh-", dir="/tmp"))  # short: a socket's path has 107 bytes
    config, shared = build1.at / "sharing", place / "master"
    config.write_text((build1.at / "client").read_text() + f"  ControlMaster auto\n  ControlPath {shared}\n")
    try:
        with subprocess.Popen(ssh.argv(f"ssh -F {config}", "build1", ("cat",)), stdin=-1, stdout=-1) as ours:
            assert ours.stdin
            assert ours.stdout
            ours.stdin.write(b"there\n")
            ours.stdin.flush()
            assert ours.stdout.readline() == b"there\n"
            assert not shared.exists()
            ours.stdin.close()
        with subprocess.Popen(
            ("ssh", "-F", config, "build1", "echo $SSH_CONNECTION; cat"), stdin=-1, stdout=-1
        ) as theirs:
            assert theirs.stdin
            assert theirs.stdout
            connection = theirs.stdout.readline()
            wait_until(shared.exists, STUCK, "the person's connection is there")
            words = ("sh", "-c", "echo $SSH_CONNECTION")
            assert ssh.run(f"ssh -F {config}", "build1", words, 30).out == connection
            theirs.stdin.close()
    finally:
        shutil.rmtree(place)


def test_programs_of_the_persons_own_there_are_found(build1: Machine) -> None:
    """Issue 19, build 1: installers put programs into ~/.local/bin, which is not on the PATH of a command over ssh."""
    place = build1.home / ".local" / "bin"
    place.mkdir(parents=True)
    (place / "only-here").write_text("#!/bin/sh\necho found\n")
    (place / "only-here").chmod(0o700)
    assert ssh.run(build1.ssh, "build1", ("only-here",), 30).out == b"found\n"


@pytest.mark.parametrize(
    ("name", "command", "says"),
    [
        ("nowhere.invalid", "ssh -F none", "nowhere.invalid cannot be reached: "),
        ("build1", "no-such-ssh", "no-such-ssh cannot be run: "),
        ("build1", "sh -c 'sleep 60' ssh", "build1 does not answer in time"),
        ("build1", "sh -c 'cat /dev/zero' ssh", "build1 printed too much"),
        ("build1", "sh -c 'exec >&- 2>&-; sleep 60' ssh", "build1 does not answer in time"),
    ],
)
def test_who_is_not_reached_is_named_with_the_reason(name: str, command: str, says: str) -> None:
    """Issue 19, build 1."""
    patience = 1.0 if "sleep" in command else 60.0
    with pytest.raises(EnvironmentMissing, match=says) as raised:
        ssh.run(command, name, ("true",), patience)
    assert raised.value.hint


def test_the_home_of_nobody_stays_a_word() -> None:
    """A setting of the person's is no fault of pro0 (behaviour 3.32)."""
    assert ssh.argv("sh ~nobody-of-this-name/x", "build1", ("true",))[:2] == ["sh", "~nobody-of-this-name/x"]


@pytest.mark.parametrize(
    ("errors", "says"),
    [
        ("", ""),
        ("Authorized use only\nhost key verification failed", "host key verification failed"),
        ("Authorized use only\npro0: bob is not here\nhint: look there", "bob is not here"),
    ],
)
def test_a_banner_is_no_reason(errors: str, says: str) -> None:
    """What ssh says before it is no reason why a command failed there (behaviour 3.32)."""
    assert ssh.reason(errors) == says


ASKS = """
import sys
from pro0 import ssh
ssh.run(f"sh -c 'echo $$ > {sys.argv[1]}; exec sleep 1000' ssh", "build1", ("true",), 1000)
"""


def test_what_asks_a_machine_ends_with_who_waits_for_it(tmp_path: Path) -> None:
    """Issue 19, must show 4: a machine that never answers keeps nothing at work here."""
    told = tmp_path / "pid"
    with subprocess.Popen((sys.executable, "-c", ASKS, told)) as waits:
        wait_until(lambda: told.exists() and told.read_text(), STUCK, "it asks")
        asking = psutil.Process(int(told.read_text()))
        waits.kill()
    wait_until(lambda: ended(asking), STUCK, "it has ended")


def test_a_machine_that_does_not_let_in_asks_nothing(build1: Machine) -> None:
    """Issue 19, build 1."""
    config = build1.at / "stranger"
    config.write_text((build1.at / "client").read_text().replace(f"{build1.at}/key\n", os.devnull + "\n"))
    with pytest.raises(EnvironmentMissing, match=r"build1 cannot be reached: .*Permission denied"):
        ssh.run(f"ssh -F {config}", "build1", ("true",), 30)
