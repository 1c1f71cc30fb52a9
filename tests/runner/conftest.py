"""A runner within the test's own process."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def signals() -> Iterator[None]:
    """Give back what a runner, which is a process of its own as a rule, takes for itself."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    kept = [signal.getsignal(number) for number in numbers]
    yield
    for number, before in zip(numbers, kept, strict=True):
        signal.signal(number, before)
