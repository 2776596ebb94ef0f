"""What differs between SQLite and PostgreSQL: text, fields of JSON, locks, upserts, the clock."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Dialect, Float, Table, Text, cast, func, literal, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ColumnElement, FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine


class PlainText(TypeDecorator[str]):
    """Text that sorts by its code points in every database. NUL is left out for PostgreSQL."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of a column."""
        plain = Text() if is_sqlite(dialect) else postgresql.TEXT(collation="C")
        return dialect.type_descriptor(plain)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The value as the database takes it."""
        return value if value is None or is_sqlite(dialect) else value.replace("\x00", "")


class JsonField(FunctionElement[str]):
    """A field of the JSON object that a column holds as text, as text; NULL where it is absent."""

    inherit_cache = True
    type = Text()

    def __init__(self, column: ColumnElement[str], name: str) -> None:
        super().__init__(column, literal(name))


@compiles(JsonField)
def _read_with_json_extract(field: JsonField, compiler: Any, **options: Any) -> str:
    column, name = (compiler.process(part, **options) for part in field.clauses)
    return f"json_extract({column}, '$.' || {name})"


@compiles(JsonField, "postgresql")
def _read_with_arrow(field: JsonField, compiler: Any, **options: Any) -> str:
    column, name = (compiler.process(part, **options) for part in field.clauses)
    without_nul = rf"regexp_replace({column}, '(?<!\\)((\\\\)*)\\u0000', '\1', 'g')"  # PostgreSQL reads none
    column = rf"CASE WHEN strpos({column}, '\u0000') > 0 THEN {without_nul} ELSE {column} END"
    return f"(CAST({column} AS JSON) ->> {name})"


def is_sqlite(dialect: Dialect) -> bool:
    """Whether a database is SQLite, which admits one writer at a time."""
    return dialect.name == "sqlite"


def schema_of(connection: Connection) -> str | None:
    """The schema of the tables that this connection reads; None for that of the database."""
    names: dict[str | None, str] = connection.get_execution_options().get("schema_translate_map") or {}
    return names.get(None)


def read_clock(connection: Connection) -> float:
    """The time in seconds since 1970 by the clock that all who share the database share."""
    if is_sqlite(connection.dialect):
        return time.time()
    now = func.extract("epoch", func.clock_timestamp())
    return float(connection.scalar(select(cast(now, Float))) or 0.0)


def lock_once(connection: Connection, name: str) -> None:
    """Let nobody else pass this place of the same store until the transaction ends. A writing transaction of
    SQLite is alone already."""
    if not is_sqlite(connection.dialect):
        place = f"touchstone {schema_of(connection) or ''} {name}"
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(place))))


def upsert(connection: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Insert a row in the place of the one with the same primary key."""
    kind = sqlite if is_sqlite(connection.dialect) else postgresql
    statement = kind.insert(table).values(row)
    keys = list(table.primary_key.columns)
    others = {name: statement.excluded[name] for name in row if not table.c[name].primary_key}
    if not others:
        connection.execute(statement.on_conflict_do_nothing(index_elements=keys))
    else:
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=others))
