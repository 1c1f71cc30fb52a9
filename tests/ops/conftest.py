"""Operations are tested on real files; what fsync does, no test here can see."""

import os

import pytest


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fsync cost nothing; it is still called and counted."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
