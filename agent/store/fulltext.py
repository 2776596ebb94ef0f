"""The full-text index of the library's passages: the one place that speaks SQLite's FTS5. It knows terms, not
language.

The index is contentless: it holds terms and where they stand, no text. A row is taken out by naming its terms
again (SQLite before 3.43 offers no other way), which is why whoever adds rows must be able to make the same
terms again. Terms are made above; here they are opaque, quoted, and never read as FTS5's query language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, text

from agent.errors import StoreError
from agent.store.tables import FULLTEXT_TABLE

TERMS_TABLE = f"{FULLTEXT_TABLE}_terms"
"""The index seen term by term: in how many rows each stands."""
HEAD_WEIGHT = 2.0
"""What a term counts that stands in the title or heading, against one in the text."""

FulltextRow = tuple[int, str, str]
"""A passage's id, the terms of its title and heading, and those of its text, each joined by blanks."""


def create(connection: Connection) -> None:
    """Make the empty index. Only ASCII white space parts terms ("." and "," stand inside numbers)."""
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {FULLTEXT_TABLE} USING fts5(head, body, content='', tokenize=\"ascii tokenchars '.,_'\")"
    )
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {TERMS_TABLE} USING fts5vocab({FULLTEXT_TABLE}, 'row')"
    )


def drop(connection: Connection) -> None:
    """Do away with the index."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TERMS_TABLE}")
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {FULLTEXT_TABLE}")


def add(connection: Connection, rows: Sequence[FulltextRow]) -> None:
    """Put rows in."""
    if rows and _has_fts5(connection):
        connection.exec_driver_sql(
            f"INSERT INTO {FULLTEXT_TABLE}(rowid, head, body) VALUES (?, ?, ?)", list(rows)
        )


def remove(connection: Connection, rows: Sequence[FulltextRow]) -> None:
    """Take rows out; their terms must be those they were put in with."""
    if rows and _has_fts5(connection):
        connection.exec_driver_sql(
            f"INSERT INTO {FULLTEXT_TABLE}({FULLTEXT_TABLE}, rowid, head, body) VALUES ('delete', ?, ?, ?)",
            list(rows),
        )


def search(
    connection: Connection, terms: Iterable[str], k: int, *, within: Sequence[int] | None = None
) -> list[tuple[int, float]]:
    """The `k` rows that bear most on any of the terms, best first, with their scores (bm25, higher is
    better).

    `within`: only passages of these sources. Rows of sources in the bin are among them. Raises StoreError
    where there is no FTS5."""
    cleaned = (term.replace('"', "").replace("\x00", "").strip() for term in terms)
    match = " OR ".join(f'"{term}"' for term in cleaned if term)
    if not match or within == []:
        return []
    if not _has_fts5(connection):
        raise StoreError(
            "search by words needs the embedded SQLite so far: leave DATABASE_URL empty, or search by meaning"
        )
    rank = f"bm25({FULLTEXT_TABLE}, {HEAD_WEIGHT}, 1.0)"
    if within is None:
        query = f"SELECT rowid, -{rank} FROM {FULLTEXT_TABLE} WHERE {FULLTEXT_TABLE} MATCH :match ORDER BY {rank} LIMIT :k"
    else:
        listed = ",".join(str(int(source)) for source in within)
        query = (
            f"SELECT p.id, -{rank} FROM {FULLTEXT_TABLE} CROSS JOIN passages p ON p.id = {FULLTEXT_TABLE}.rowid "
            f"WHERE {FULLTEXT_TABLE} MATCH :match AND p.source IN ({listed}) ORDER BY {rank} LIMIT :k"
        )
    return [(row[0], row[1]) for row in connection.execute(text(query), {"match": match, "k": k})]


def document_frequencies(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """In how many rows each term stands (in the bin, too); terms that stand nowhere are left out. {} where
    there is no FTS5."""
    asked = dict.fromkeys(terms)
    if not asked or not _has_fts5(connection):
        return {}
    names = {f"t{n}": term for n, term in enumerate(asked)}
    query = f"SELECT term, doc FROM {TERMS_TABLE} WHERE term IN ({', '.join(f':{name}' for name in names)})"
    return {row[0]: row[1] for row in connection.execute(text(query), names)}


def _has_fts5(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"
