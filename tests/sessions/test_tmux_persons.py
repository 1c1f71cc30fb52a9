"""What pro0's own tmux server takes from the person's machine."""

from pathlib import Path

import pytest

from pro0.sessions.tmux.persons import persons_prefix, prefix, prefix_in, terminal_type


@pytest.mark.parametrize(
    ("configuration", "key"),
    [
        ("", ""),
        ("set -g prefix C-a\n", "C-a"),
        ("set-option -g prefix 'C-Space'", "C-Space"),
        ("set -g prefix M-Space", "M-Space"),
        ("set -g prefix ^A", "^A"),
        ('  set -gq prefix "M-x"  # mine', "M-x"),
        ("set -g prefix C-a\nset -g prefix C-s\nset -g prefix2 C-q", "C-s"),
        ("# set -g prefix C-a\nset -g status off", ""),
        ("set -g prefix `", "`"),
        ("set -g prefix F12", "F12"),
        ("set -g prefix C-a ; run-shell 'touch x'", ""),
        ("set -g prefix #(touch x)", ""),
    ],
)
def test_the_prefix_is_read_from_a_configuration(configuration: str, key: str) -> None:
    assert prefix_in(configuration) == key


def test_the_last_of_the_persons_files_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert persons_prefix() == "C-b"
    assert prefix("C-b") == []
    (tmp_path / ".tmux.conf").write_bytes(b"set -g prefix C-a\n\xff\n")
    assert persons_prefix() == "C-a"
    (tmp_path / ".config" / "tmux").mkdir(parents=True)
    (tmp_path / ".config" / "tmux" / "tmux.conf").write_text("set -g prefix C-x\n")
    assert persons_prefix() == "C-x"


def test_a_terminal_type_that_the_machine_does_not_know_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pro0.sessions.tmux.persons._TERMINFO", ())
    monkeypatch.setenv("TERMINFO", str(tmp_path))
    assert terminal_type()[-1] == "screen-256color"
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "tmux-256color").touch()
    assert terminal_type()[-1] == "tmux-256color"
