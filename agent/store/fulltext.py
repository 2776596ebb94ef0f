"""The full-text index of the library's passages, in SQLite's FTS5.

The index is contentless: it holds terms and their positions, no text. Removing a row needs its terms again
(SQLite before 3.43 has no other way), so the caller must be able to make the same terms again. Terms are
quoted and never read as FTS5's query language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, text

from agent.errors import StoreError
from agent.store.tables import FULLTEXT_TABLE

TERMS_TABLE = f"{FULLTEXT_TABLE}_terms"
"""FTS5's view of the index with the number of rows of each term."""
HEAD_WEIGHT = 2.0
"""Weight of a term in the title or heading, against 1 in the text."""

FulltextRow = tuple[int, str, str]
"""A passage's id, the terms of its title and heading, and the terms of its text, each joined by blanks."""


def create(connection: Connection) -> None:
    """Create the empty index. Only ASCII white space separates terms ("." and "," are part of numbers)."""
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {FULLTEXT_TABLE} USING fts5(head, body, content='', "
        "tokenize=\"ascii tokenchars '.,_'\")"
    )
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {TERMS_TABLE} USING fts5vocab({FULLTEXT_TABLE}, 'row')"
    )


def drop(connection: Connection) -> None:
    """Drop the index."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TERMS_TABLE}")
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {FULLTEXT_TABLE}")


def add(connection: Connection, rows: Sequence[FulltextRow]) -> None:
    """Add rows."""
    if rows and _has_fts5(connection):
        connection.exec_driver_sql(
            f"INSERT INTO {FULLTEXT_TABLE}(rowid, head, body) VALUES (?, ?, ?)", list(rows)
        )


def remove(connection: Connection, rows: Sequence[FulltextRow]) -> None:
    """Remove rows; their terms must be those they were added with."""
    if rows and _has_fts5(connection):
        connection.exec_driver_sql(
            f"INSERT INTO {FULLTEXT_TABLE}({FULLTEXT_TABLE}, rowid, head, body) VALUES ('delete', ?, ?, ?)",
            list(rows),
        )


def search(
    connection: Connection, terms: Iterable[str], k: int, *, within: Sequence[int] | None = None
) -> list[tuple[int, float]]:
    """The `k` rows that match any of the terms best, best first, with their BM25 score (higher is better);
    `within`: only of these sources. Rows of deleted sources are included. Raises StoreError without FTS5."""
    cleaned = (term.replace('"', "").replace("\x00", "").strip() for term in terms)
    match = " OR ".join(f'"{term}"' for term in cleaned if term)
    if not match or within == []:
        return []
    if not _has_fts5(connection):
        raise StoreError(
            "search by words needs the embedded SQLite: leave DATABASE_URL empty, or search by meaning"
        )
    rank = f"bm25({FULLTEXT_TABLE}, {HEAD_WEIGHT}, 1.0)"
    if within is None:
        query = (
            f"SELECT rowid, -{rank} FROM {FULLTEXT_TABLE} "
            f"WHERE {FULLTEXT_TABLE} MATCH :match ORDER BY {rank} LIMIT :k"
        )
    else:
        listed = ",".join(str(int(source)) for source in within)
        query = (
            f"SELECT p.id, -{rank} FROM {FULLTEXT_TABLE} CROSS JOIN passages p ON p.id = "
            f"{FULLTEXT_TABLE}.rowid "
            f"WHERE {FULLTEXT_TABLE} MATCH :match AND p.source IN ({listed}) ORDER BY {rank} LIMIT :k"
        )
    return [(row[0], row[1]) for row in connection.execute(text(query), {"match": match, "k": k})]


def document_frequencies(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """The number of rows of each term, deleted sources included; terms without a row are left out. {} without
    FTS5."""
    asked = dict.fromkeys(terms)
    if not asked or not _has_fts5(connection):
        return {}
    names = {f"t{n}": term for n, term in enumerate(asked)}
    query = f"SELECT term, doc FROM {TERMS_TABLE} WHERE term IN ({', '.join(f':{name}' for name in names)})"
    return {row[0]: row[1] for row in connection.execute(text(query), names)}


def _has_fts5(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"
