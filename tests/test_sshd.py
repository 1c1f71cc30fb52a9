"""Where other machines must be tried, and programs, they can be."""

import shutil

import pytest

from tests import sshd
from tests.hostile.services import must_run


def test_ci_leaves_no_test_of_another_machine_out() -> None:
    """Issue 19: never skipped silently in CI."""
    assert not (must_run("sshd") and sshd.lacks()), sshd.lacks()


@pytest.mark.parametrize("name", ["node", "man"])
def test_ci_leaves_no_test_of_a_program_out(name: str) -> None:
    assert not must_run(name) or shutil.which(name), f"{name} is not here: make services"
