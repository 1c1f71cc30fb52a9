"""Who may look at a guard's terminal: processes of the same user, whoever can reach its socket."""

import json
import os
import socket
import warnings
from pathlib import Path

import pytest

from pro0.guard import launch as launches
from pro0.guard.terminal import AgentTerminal
from pro0.terminals import address, protocol
from tests.guard.sessions import Session
from tests.guard.shown import SECONDS, Shown, terminal

NOBODY = 65534


def heard(path: Path) -> bytes:
    """Return what a new client hears first, nothing when it is turned away; in the socket's folder."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as visitor:
        visitor.settimeout(SECONDS)
        visitor.connect(path.name)
        return visitor.recv(1 << 16)


def heard_as(user: int, path: Path) -> bytes:
    """Return what a client hears that a process of this user is."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that pytest-xdist has; the child uses none
        child = os.fork()
    if child == 0:
        try:
            os.chdir(path.parent)
            os.setresuid(user, user, user)
            os.write(theirs, b"heard " + heard(path))
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as said:
        told = said.read()
    os.waitpid(child, 0)
    assert told.startswith(b"heard "), "it could not connect"
    return told.removeprefix(b"heard ")


def test_a_client_of_another_user_is_turned_away(session: Session) -> None:
    """43: though it may enter the folder and open the socket. Only root can be another user; others are themselves."""
    shown = Shown(session, ["sleep", "600"])
    with shown.connect() as own:
        path = Path(shown.wanted.socket)
        for folder in (path.parent, path):
            folder.chmod(0o777)
        assert session.incarnation.encode() in heard_as(os.geteuid(), path)
        if os.geteuid() == 0:
            assert heard_as(NOBODY, path) == b""
        assert own.ask(protocol.LOOK, answer=protocol.FRAME)["rows"], "those who are there see on"


def test_who_is_not_of_this_user_is_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """43: the same without root: what the kernel says of the other end decides."""
    monkeypatch.chdir(tmp_path)
    wanted = terminal(tmp_path)
    values = {"socket": wanted.socket, "library": wanted.library, "columns": 80, "lines": 24}
    made = AgentTerminal(launches.Terminal(values), "inc-1")
    try:
        path = Path(wanted.socket)
        assert json.dumps("inc-1").encode() in heard(path)
        with monkeypatch.context() as strange:
            strange.setattr(address, "peer", lambda _: os.geteuid() + 1)
            assert heard(path) == b""
        assert heard(path)
    finally:
        made.end()
