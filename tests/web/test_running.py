"""The lock of the server of a page: who serves holds it for long, who looks for a moment."""

import fcntl
import os
import threading
from pathlib import Path

from filelock import lock_descriptor

from pro0.store.paths import SERVER_LOCK, web
from pro0.web.running import ServerLock, served_at


def opened(home: Path) -> int:
    """The lock file of a home whose server is gone, opened as by another process."""
    lock = ServerLock(home)
    assert lock.take()
    lock.sign("http://localhost:1/")
    assert served_at(home) == "http://localhost:1/"
    assert lock._held is not None
    os.close(lock._held)  # as when it is killed: the address stays in the file
    return os.open(web(home) / SERVER_LOCK, os.O_RDWR)


def test_a_server_that_serves_is_met(home: Path) -> None:
    lock, other = ServerLock(home), ServerLock(home)
    assert lock.take()
    assert not other.take()
    lock.drop()
    assert other.take()
    other.drop()


def test_a_lock_that_is_free_in_a_moment_is_waited_for(home: Path) -> None:
    """Who looks has it just then: else a server would be refused as served already, at no address."""
    held = opened(home)
    assert lock_descriptor(held, blocking=False)
    threading.Timer(0.2, os.close, [held]).start()
    lock = ServerLock(home)
    assert lock.take()
    lock.drop()


def test_another_who_looks_is_no_server(home: Path) -> None:
    """Else the address that a killed server left would count."""
    looking = opened(home)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert served_at(home) == ""
    os.close(looking)
