"""What the tests of the house share."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """No garbage is collected while these tests hold the package's syntax trees: it would look through them each time."""
    gc.disable()
    yield
    gc.enable()
