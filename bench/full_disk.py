"""Fills the disk of a PostgreSQL database while runs work on it, frees it, and prints what became of the runs.

    sudo python -m bench.full_disk          # mounts 60 MB of memory as the database's disk

Needs the rights of root, and PostgreSQL's binaries (see tests/postgres.py)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from sqlalchemy import create_engine, make_url

from agent.errors import StoreError
from agent.settings.config import read_config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests import postgres

RUNS = 30
SETTINGS = Settings(world="demo", model="keyless")


def main() -> int:
    """Returns 0 when every run ended well after the disk had room again."""
    server = make_url(postgres.find_server())
    disk, engine = Path(tempfile.mkdtemp()), create_engine(server, isolation_level="AUTOCOMMIT")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(disk)], check=True)
    shutil.chown(disk, "postgres")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE TABLESPACE small LOCATION '{disk}'")
        connection.exec_driver_sql("CREATE DATABASE filled TEMPLATE template0 TABLESPACE small")
    address = server.set(database="filled").render_as_string(hide_password=False)
    own = {"DATABASE_URL": address, "TOUCHSTONE_DATA": tempfile.mkdtemp(), "OLLAMA_URL": ""}
    bench = Workbench(read_config({**own, "EMBEDDING_MODEL": "off"}))
    try:
        bench.start_workers()
        for number in range(RUNS):
            bench.start(f"On what date did the Stenfors bridge reopen to traffic? {number}", SETTINGS)
        filler = disk / "filler"
        try:
            with filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(65_536))
        except OSError as full:
            print(f"the disk is full: {full}")
        refused = _start_until_refused(bench)
        print(f"a start is refused: {refused}")
        print(f"while it is full: {_count(bench)}")
        filler.unlink()
        until = time.monotonic() + 120
        while _count(bench)[Status.RUNNING] and time.monotonic() < until:
            time.sleep(0.5)
        found = _count(bench)
        print(f"with room again: {found}")
        return 0 if found[Status.REVIEW] == found.total() >= RUNS else 1
    finally:
        bench.shutdown()
        with engine.connect() as connection:
            connection.exec_driver_sql("DROP DATABASE filled WITH (FORCE)")
            connection.exec_driver_sql("DROP TABLESPACE small")
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()


def _start_until_refused(bench: Workbench) -> str:
    for _ in range(1_000):
        try:
            bench.start("And when did it close?", SETTINGS)
        except StoreError as refused:
            return str(refused)
    return ""


def _count(bench: Workbench) -> Counter[Status]:
    return Counter(run.status for run in bench.runs())


if __name__ == "__main__":
    sys.exit(main())
