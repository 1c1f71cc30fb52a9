"""A PostgreSQL server of the test's own: on a Unix socket in a temporary folder, which no address reaches."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, LiteralString

import psycopg
import pytest

from tests.waiting import STUCK, wait_until

ROOTS = (("/usr/lib/postgresql", "*/bin"), ("/opt/homebrew/opt", "postgresql*/bin"))
"""Where Debian and Homebrew put the server's programs, which are not on the PATH."""
NOBODY = "nobody"
"""Who runs it for root, whom the server refuses."""
SETTINGS = """listen_addresses = ''
unix_socket_directories = '{at}'
max_connections = 200
shared_buffers = 32MB
fsync = {fsync}
"""


def program(name: str) -> str | None:
    """Return the path of one of the server's programs, None when it is not installed."""
    places = [place for root, pattern in ROOTS for place in sorted(Path(root).glob(pattern), reverse=True)]
    return shutil.which(name, path=":".join([*map(str, places), os.environ["PATH"]]))


def is_here() -> bool:
    """Return True when a server can be started."""
    return bool(program("postgres") and program("initdb"))


def require() -> None:
    """Skip the test where no server is installed; in CI one must be."""
    if not is_here():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no PostgreSQL server is here")


SMALL_DISK = """mount -t tmpfs -o "size=24m,mode=700,uid=$(id -u nobody)" none "$1" && shift
exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"
"""
"""A server for root that sees a small disk in one of its folders."""


class Postgres:
    """The server; `url` names a database in it."""

    shared: ClassVar["Postgres | None"] = None
    """One that another process has started for the tests of this one."""

    def __init__(self, at: Path, fsync: str, disk: Path | None = None) -> None:
        self.at = at
        self._disk = disk
        self._data = at / "data"
        self._user = NOBODY if os.geteuid() == 0 else None
        self._server: subprocess.Popen[bytes] | None = None
        self._made = 0
        self.latest = ""
        """The database that was made last."""
        initdb, self._program = program("initdb"), program("postgres")
        assert initdb
        assert self._program
        if self._user:
            shutil.chown(at, self._user)
        words = [initdb, "-D", str(self._data), "-U", "pro0", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, user=self._user, cwd=at)
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write(SETTINGS.format(at=at, fsync=fsync))

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = (self.at / "log").open("ab")
        words, user = [str(self._program), "-D", str(self._data)], self._user
        if self._disk:
            words, user = ["unshare", "-m", "sh", "-c", SMALL_DISK, "sh", str(self._disk), *words], None
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PRO0_")}  # nobody's
        self._server = subprocess.Popen(
            words, stdout=log, stderr=log, user=user, cwd=self.at, env=variables, start_new_session=True
        )
        log.close()
        wait_until(self._answers, STUCK, "the server answers")

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it: at once and without a clean end, unless `how` says otherwise."""
        assert self._server
        ended = self._server.poll()
        self._server.send_signal(how)
        self._server.wait(STUCK)
        assert ended is None, f"it had ended before, with {ended}:\n{(self.at / 'log').read_text()[-3000:]}"

    def url(self, database: str = "", host: str = "") -> str:
        """Return the URL of a new database, or of one that is there."""
        if not database:
            self._made += 1
            database = self.latest = f"pro0_{os.getpid()}_{self._made}"
            with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
                connection.execute(f"create database {database}".encode())
        return f"postgresql://pro0@/{database}?host={host or self.at}"

    def lose(self, database: str, *, made_anew: bool = False) -> None:
        """Drop a database, whoever uses it; one of its name may be made anew, without a table."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"drop database {database} with (force)".encode())
            if made_anew:
                connection.execute(f"create database {database}".encode())

    def forget(self, pid: int) -> None:
        """Drop the databases that a process has made."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            made = connection.execute("select datname from pg_database where datname like %s", (f"pro0\\_{pid}\\_%",))
            for (name,) in made.fetchall():
                connection.execute(f"drop database {name} with (force)".encode())

    def ask(self, query: LiteralString) -> list[tuple[object, ...]]:
        """Return the rows of a question to the database that was made last."""
        with psycopg.connect(self.url(self.latest)) as connection:
            return connection.execute(query).fetchall()

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def postgres(fsync: str = "off", disk: Path | None = None) -> Iterator[Postgres]:
    """Run a server of one's own meanwhile; it keeps what it says only with `fsync` on, and may have a small `disk`."""
    at = Path(tempfile.mkdtemp(prefix="pro0-pg-", dir="/tmp"))  # short: a socket's path has 107 bytes
    server = Postgres(at, fsync, disk)
    server.start()
    try:
        yield server
    finally:
        server.stop(signal.SIGINT)
        shutil.rmtree(at)
