"""The store's tests make thousands of files."""

import os

import pytest


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fsync cost nothing: no test can see what it does, only that it is called."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
