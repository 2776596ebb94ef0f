"""Where the stores of one PostgreSQL database lie: each in a schema of its own, whose comment names the path
that its file has in a data folder (`people/ID/touchstone.db`). An address names a store as `?store=PATH`;
without it that is `touchstone.db`, in the schema `public`."""

from __future__ import annotations

import select
from collections.abc import Collection
from pathlib import PurePosixPath
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import URL, Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import InvalidatePoolError

from agent.store.dialect import schema_of

_engines: WeakValueDictionary[str, Engine] = WeakValueDictionary()
_opening = Lock()


def open_pool(url: URL) -> tuple[Engine, bool]:
    """The engine of a PostgreSQL address, and whether it is new. All stores of a database share the
    connections of one."""
    plain = url.difference_update_query(["store"])
    name = plain.render_as_string(hide_password=False)
    with _opening:
        known = _engines.get(name)
        # whoever admits a start holds two connections and waits for a third: so many more than are kept
        made = known or create_engine(plain, max_overflow=40, pool_events=[(_replace_ended, "checkout")])
        _engines[name] = made
    return made, known is None


def _replace_ended(connection: Any, _record: object, _proxy: object) -> None:
    """Let the pool open others when the server ended this connection: then it has something to read. Asked
    with a query each time, a run would take twice as many round trips."""
    ended = select.poll()
    ended.register(connection.fileno(), select.POLLIN)
    if ended.poll(0):
        raise InvalidatePoolError


def choose_schema(engine: Engine, path: str) -> Engine:
    """The engine that reads and writes the tables of the store of this path."""
    schema = _name_schema(path)
    return engine.execution_options(schema_translate_map={None: schema}, store=path) if schema else engine


def _name_schema(path: str) -> str:
    place = PurePosixPath(path)
    parts = (*place.parts[:-1], *([] if place.stem == "touchstone" else [place.stem]))
    return "_".join(parts)


def create_schema(connection: Connection) -> None:
    """Create the schema of the store of this connection, where it has one, unless it is there. SQL that names
    none is of this one until the transaction ends."""
    if name := schema_of(connection):
        schema = connection.dialect.identifier_preparer.quote(name)
        path = str(connection.get_execution_options()["store"]).replace("'", "''")
        connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.exec_driver_sql(f"COMMENT ON SCHEMA {schema} IS 'Touchstone {path}'")
        connection.exec_driver_sql(f"SET LOCAL search_path TO {schema}, public")


def list_stores(engine: Engine) -> dict[str, Engine]:
    """The stores of a PostgreSQL database by their paths, each with the engine that reads it."""
    told = text(
        "SELECT substr(obj_description(oid, 'pg_namespace'), 12) FROM pg_namespace "
        "WHERE obj_description(oid, 'pg_namespace') LIKE 'Touchstone %' ORDER BY 1"
    )
    with engine.connect() as connection:
        paths = list(connection.scalars(told))
        has_plain = inspect(connection).has_table("migrations", schema="public")
    return {path: choose_schema(engine, path) for path in ["touchstone.db"] * has_plain + paths}


def exchange_tables(engine: Engine, path: str, names: Collection[str]) -> None:
    """Exchange these tables of the store that this engine reads with those of the store of another path, all
    or none: whoever has the first one open finds the second one's tables in it."""
    with engine.begin() as connection:
        quote, place = connection.dialect.identifier_preparer.quote, _name_schema(path)
        here, there, between = map(quote, (schema_of(connection) or "public", place, f"{place}_x"))
        connection.exec_driver_sql("SET LOCAL lock_timeout = '5s'")  # behind a backup, others would wait
        connection.exec_driver_sql(f"CREATE SCHEMA {between}")
        for source, target in ((here, between), (there, here), (between, there)):
            for name in names:
                connection.exec_driver_sql(f"ALTER TABLE {source}.{quote(name)} SET SCHEMA {target}")
        connection.exec_driver_sql(f"DROP SCHEMA {between}")
