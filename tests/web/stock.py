"""A library that many tests begin with is made once: a new bench gets a copy of its database."""

from __future__ import annotations

import functools
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select

from agent.store import tables
from agent.workbench import Workbench

Stocking = Callable[..., None]


def made_once(stocking: Stocking) -> Stocking:
    """The same stocking, which copies what its first call (with the same wishes) made; a bench that holds
    something is stocked as ever."""
    made: dict[Any, sqlite3.Connection] = {}
    lock = threading.Lock()

    @functools.wraps(stocking)
    def stocked(bench: Workbench, **wishes: Any) -> None:
        engine, wanted = bench.store.engine, tuple(sorted(wishes.items()))
        with engine.connect() as connection:
            empty = not any(
                connection.scalar(select(func.count()).select_from(table))
                for table in (tables.runs, tables.sources, tables.pages)
            )
        if not empty or engine.dialect.name != "sqlite":
            stocking(bench, **wishes)
            return
        with lock:
            if wanted not in made:
                stocking(bench, **wishes)
                made[wanted] = sqlite3.connect(":memory:", check_same_thread=False)
                _copied(bench, lambda file: file.backup(made[wanted]))
            else:
                _copied(bench, made[wanted].backup)

    return stocked


def _copied(bench: Workbench, copy: Callable[[sqlite3.Connection], None]) -> None:
    connection = bench.store.engine.raw_connection()
    try:
        copy(connection.driver_connection)
    finally:
        connection.close()
