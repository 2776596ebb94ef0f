"""Copies the tables of one store into another, of either dialect, and compares them row by row: both are read
side by side in the order of their keys, and a part that differs is written anew in a transaction of its own.
NUL characters stay in SQLite only, and no worker holds a run in the copy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice, zip_longest
from operator import itemgetter, ne
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, delete, func, insert, select, tuple_
from sqlalchemy.exc import DBAPIError

from agent.errors import StoreError
from agent.store import tables
from agent.store.dialect import PlainText, is_sqlite, schema_of
from agent.store.fulltext import list_rows, open_fulltext
from agent.store.table_access import Writer

PART_ROWS = 200
"""So many rows are read at once, and written in one transaction."""


@contextmanager
def open_snapshot(engine: Engine) -> Iterator[Connection]:
    """A connection that reads one state of a database; on SQLite nobody else writes meanwhile."""
    options = {"writes": True} if is_sqlite(engine.dialect) else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


def copy_store(
    source: Connection, target: Writer, metadata: MetaData, *, writes: bool = True
) -> tuple[int, int, list[str]]:
    """Make the tables where `target` writes the same as those that `source` reads, or only compare them.
    Returns how many rows there are, in how many NUL is left out, and a line a table that differed. Raises
    StoreError for a row that the other database does not take."""
    number, cleaned, differences = 0, 0, list[str]()
    clean, dialect = PlainText().process_bind_param, target.engine.dialect
    for table in (one for one in metadata.sorted_tables if one is not tables.applied_migrations):
        columns = list(table.primary_key.columns)
        read, key = select(table).order_by(*columns), itemgetter(*(column.name for column in columns))
        free = {"owner": "", "lease_until": 0.0} if table is tables.runs else {}
        after, differing = tuple[Any, ...](), list[Any]()
        streamed = source.execute(read.execution_options(yield_per=PART_ROWS)).partitions()
        for part in chain(streamed, [[]]):  # the last one: what lies behind all keys
            held = [{**row._mapping, **free} for row in part]
            rows = [
                {k: clean(v, dialect) if isinstance(v, str) else v for k, v in row.items()} for row in held
            ]
            upto = tuple(rows[-1][column.name] for column in columns) if rows else ()
            between = [tuple_(*columns) > tuple_(*after)] if after else []
            between += [tuple_(*columns) <= tuple_(*upto)] if upto else []
            with target.engine.connect() as connection:
                there = {key(row): dict(row) for row in connection.execute(read.where(*between)).mappings()}
            here = {key(row): row for row in rows}
            different = sorted(one for one in {**here, **there} if here.get(one) != there.get(one))
            if different and writes:
                try:
                    with target.begin() as connection:
                        connection.execute(delete(table).where(*between))
                        if rows:
                            connection.execute(insert(table), rows)
                except DBAPIError as error:
                    raise StoreError(f"a row of {table.name} cannot be copied: {error.orig}") from error
            number, cleaned = number + len(rows), cleaned + sum(map(ne, held, rows))
            after, differing = upto, differing + different
        if differing:
            differences.append(f"{table.name}: {len(differing):,} rows, the first {differing[0]}")
        numbered = table.autoincrement_column
        if writes and numbered is not None and not is_sqlite(dialect):
            with target.begin() as connection:  # later rows get later numbers
                place = f'"{schema_of(connection) or "public"}".{table.name}'
                sequence = func.pg_get_serial_sequence(place, numbered.name)
                connection.execute(select(func.setval(sequence, func.max(numbered))))
    if tables.passages in metadata.sorted_tables:
        terms = list_rows(source, PART_ROWS)
        with target.engine.connect() as connection:
            if any(one != other for one, other in zip_longest(terms, list_rows(connection, PART_ROWS))):
                differences.append("the full-text index")
        if writes and "the full-text index" in differences:
            terms = list_rows(source, PART_ROWS)
            with target.begin() as connection:
                open_fulltext(connection).create()
            while some := list(islice(terms, PART_ROWS)):
                with target.begin() as connection:
                    open_fulltext(connection).add(some)
    return number, cleaned, differences
