"""The completion scripts, taken in by real shells."""

import shutil
import subprocess

import pytest

from pro0.terminals.completion import script

OLD = """
complete() {
    [[ " $* " == *" nosort "* ]] && { echo "complete: nosort: invalid option name" >&2; return 2; }
    builtin complete "$@"
}
"""
"""A `complete` as before bash 4.4, and on macOS."""


@pytest.mark.parametrize(("before", "option"), [("", " -o nosort"), (OLD, "")], ids=["bash now", "bash 3.2"])
def test_every_bash_takes_its_script_in_silence(before: str, option: str) -> None:
    bash = shutil.which("bash")
    assert bash
    words = f"{before}\n{script('bash')}\ncomplete -p pro0"
    done = subprocess.run([bash, "--norc", "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"complete{option} -F ")
