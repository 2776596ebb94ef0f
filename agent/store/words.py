"""The full-text index of the library's passages: the one place that speaks SQLite's FTS5. It knows terms, not language.

The index is contentless: it holds terms and where they stand, no text. A row is taken out by naming its terms again (SQLite
before 3.43 offers no other way), which is why whoever adds rows must be able to make the same terms again. Terms are made
above; here they are opaque, quoted, and never read as FTS5's query language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, text

from agent.errors import StoreError
from agent.store.tables import WORDS

TERMS = f"{WORDS}_terms"
"""The index seen term by term: in how many rows each stands."""
HEAD_WEIGHT = 2.0
"""What a term counts that stands in the title or heading, against one in the text."""

Row = tuple[int, str, str]
"""A passage's id, the terms of its title and heading, and those of its text, each joined by blanks."""


def create(connection: Connection) -> None:
    """Make the empty index. Only ASCII white space parts terms ("." and "," stand inside numbers)."""
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {WORDS} USING fts5(head, body, content='', tokenize=\"ascii tokenchars '.,_'\")"
    )
    connection.exec_driver_sql(f"CREATE VIRTUAL TABLE IF NOT EXISTS {TERMS} USING fts5vocab({WORDS}, 'row')")


def drop(connection: Connection) -> None:
    """Do away with the index."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TERMS}")
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {WORDS}")


def add(connection: Connection, rows: Sequence[Row]) -> None:
    """Put rows in."""
    if rows and _here(connection):
        connection.exec_driver_sql(f"INSERT INTO {WORDS}(rowid, head, body) VALUES (?, ?, ?)", list(rows))


def remove(connection: Connection, rows: Sequence[Row]) -> None:
    """Take rows out; their terms must be those they were put in with."""
    if rows and _here(connection):
        connection.exec_driver_sql(f"INSERT INTO {WORDS}({WORDS}, rowid, head, body) VALUES ('delete', ?, ?, ?)", list(rows))


def search(connection: Connection, terms: Iterable[str], k: int, *, within: Sequence[int] | None = None) -> list[tuple[int, float]]:
    """The `k` rows that bear most on any of the terms, best first, with their scores (bm25, higher is better).

    `within`: only passages of these sources. Rows of sources in the bin are among them. Raises StoreError where there is no FTS5.
    """
    cleaned = (term.replace('"', "").replace("\x00", "").strip() for term in terms)
    match = " OR ".join(f'"{term}"' for term in cleaned if term)
    if not match or within == []:
        return []
    if not _here(connection):
        raise StoreError("search by words needs the embedded SQLite so far: leave DATABASE_URL empty, or search by meaning")
    rank = f"bm25({WORDS}, {HEAD_WEIGHT}, 1.0)"
    if within is None:
        query = f"SELECT rowid, -{rank} FROM {WORDS} WHERE {WORDS} MATCH :match ORDER BY {rank} LIMIT :k"
    else:
        listed = ",".join(str(int(source)) for source in within)
        query = (
            f"SELECT p.id, -{rank} FROM {WORDS} CROSS JOIN passages p ON p.id = {WORDS}.rowid "
            f"WHERE {WORDS} MATCH :match AND p.source IN ({listed}) ORDER BY {rank} LIMIT :k"
        )
    return [(row[0], row[1]) for row in connection.execute(text(query), {"match": match, "k": k})]


def counts(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """In how many rows each term stands (in the bin, too); terms that stand nowhere are left out. {} where there is no FTS5."""
    asked = dict.fromkeys(terms)
    if not asked or not _here(connection):
        return {}
    names = {f"t{n}": term for n, term in enumerate(asked)}
    query = f"SELECT term, doc FROM {TERMS} WHERE term IN ({', '.join(f':{name}' for name in names)})"
    return {row[0]: row[1] for row in connection.execute(text(query), names)}


def _here(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"
