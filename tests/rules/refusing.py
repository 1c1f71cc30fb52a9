"""What a refusal says: to a person in a sentence and a hint, to a program in a word and an exit code."""

from collections.abc import Callable

import pytest

from pro0.errors import Pro0Error

Case = tuple[Callable[[], object], int, str, str, str | None]
"""What is done; then the exit code, the word, the sentence and the hint of its refusal."""


def refused(done: Callable[[], object], exit_code: int, code: str, message: str, hint: str | None) -> None:
    """Do it, and see that it is refused in these words."""
    with pytest.raises(Pro0Error) as error:
        done()
    said = error.value
    assert (said.exit_code, said.code, said.message, said.hint) == (exit_code, code, message, hint)
