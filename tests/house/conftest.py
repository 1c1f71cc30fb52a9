"""What the tests of the house share."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """Collect no garbage while a test holds the syntax trees of the package: each collection walks through them all."""
    gc.disable()
    yield
    gc.enable()
