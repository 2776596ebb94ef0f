"""The full-text index of the library's passages, in SQLite's FTS5: all of its SQL.

The index keeps the terms of each row, so that a row can be removed by its id. Terms are
quoted and never read as FTS5's query language. Another database fills this seam with `add`, `remove`,
`search`, `match_terms` and `document_frequencies`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log

from sqlalchemy import Connection, text

from agent.errors import StoreError

FULLTEXT_TABLE = "library_words"
TERMS_TABLE = f"{FULLTEXT_TABLE}_terms"
"""FTS5's view of the index with the number of rows of each term."""
K1, B = 1.2, 0.75
"""The constants of BM25 as textbooks give them (Robertson and Zaragoza 2009); FTS5 has them built in."""
HEAD_WEIGHT = 2.0
"""Weight of a term in title, heading path or label, against 1 in the text."""
_LEAST_IDF = 1e-6
"""FTS5's inverse document frequency of a term that more than half of the rows hold."""

MIN_FORM_LETTERS, MAX_ENDING, MAX_FORMS = 5, 2, 5
"""Letters of a word that has other forms, letters of an ending, and forms that are looked for."""


def create(connection: Connection) -> None:
    """Create the empty index. Only ASCII white space separates terms ("." and "," are part of numbers)."""
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {FULLTEXT_TABLE} USING fts5(head, body, "
        "tokenize=\"ascii tokenchars '.,_'\")"
    )
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {TERMS_TABLE} USING fts5vocab({FULLTEXT_TABLE}, 'row')"
    )


def drop(connection: Connection) -> None:
    """Drop the index."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TERMS_TABLE}")
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {FULLTEXT_TABLE}")


def add(connection: Connection, rows: Sequence[tuple[int, str, str]]) -> None:
    """Add rows: a passage's id, the terms of what stands over it, and those of its text, joined by blanks."""
    if rows and _has_fts5(connection):
        connection.exec_driver_sql(
            f"INSERT INTO {FULLTEXT_TABLE}(rowid, head, body) VALUES (?, ?, ?)", list(rows)
        )


def remove(connection: Connection, source: int) -> None:
    """Remove the rows of a source's passages."""
    if _has_fts5(connection):
        connection.exec_driver_sql(
            f"DELETE FROM {FULLTEXT_TABLE} WHERE rowid IN (SELECT id FROM passages WHERE source = ?)",
            (source,),
        )


def search(connection: Connection, terms: Iterable[str], k: int) -> list[tuple[int, float]]:
    """The `k` rows that match any of the terms best, best first, with their BM25 score (higher is better).
    Rows of deleted sources are included. Raises StoreError without FTS5."""
    match = " OR ".join(_quote(terms))
    if not match:
        return []
    _require_fts5(connection)
    rank = f"bm25({FULLTEXT_TABLE}, {HEAD_WEIGHT}, 1.0)"
    query = (
        f"SELECT rowid, -{rank} FROM {FULLTEXT_TABLE} WHERE {FULLTEXT_TABLE} MATCH :match "
        f"ORDER BY {rank} LIMIT :k"
    )
    return [(row[0], row[1]) for row in connection.execute(text(query), {"match": match, "k": k})]


def match_terms(
    connection: Connection, terms: Sequence[str], within: Sequence[int], *, inflected: bool = False
) -> dict[str, dict[int, float]]:
    """For each term the rows of these sources that hold it, each with the saturated count (0..1) of its
    occurrences; lengths are measured by the mean of the whole index. Raises StoreError without FTS5.

    FTS5 tells a row's score for one term, which is this count times the term's inverse document frequency in
    the whole index: that is divided out, so that the caller weighs the terms by other frequencies.
    `inflected`: a term without a row is looked for in its other forms (see `find_forms`)."""
    held: dict[str, dict[int, float]] = {term: {} for term in terms}
    if not within or not held:
        return held
    _require_fts5(connection)
    listed = ",".join(str(int(source)) for source in within)
    low, high = connection.execute(
        text(f"SELECT min(id), max(id) FROM passages WHERE source IN ({listed})")
    ).one()
    if low is None:
        return held
    query = text(
        f"SELECT {FULLTEXT_TABLE}.rowid, -bm25({FULLTEXT_TABLE}, {HEAD_WEIGHT}, 1.0) FROM {FULLTEXT_TABLE} "
        f"CROSS JOIN passages p ON p.id = {FULLTEXT_TABLE}.rowid WHERE {FULLTEXT_TABLE} MATCH :match "
        f"AND {FULLTEXT_TABLE}.rowid BETWEEN :low AND :high AND p.source IN ({listed})"
    )
    rows, holding = count_rows(connection), document_frequencies(connection, terms)

    def match(term: str, holding: int) -> dict[int, float]:
        idf = log((rows - holding + 0.5) / (holding + 0.5)) if rows >= holding else 0.0
        scale = max(idf, _LEAST_IDF) * (K1 + 1)  # as FTS5 computes it
        places = {"low": low, "high": high}
        return {
            row: score / scale
            for quoted in _quote([term])
            for row, score in connection.execute(query, {"match": quoted, **places})
        }

    for term in held:
        held[term] = match(term, holding.get(term, 0))
        if inflected and not held[term]:
            for form, count in find_forms(connection, term):
                held[term] |= {row: max(s, held[term].get(row, 0.0)) for row, s in match(form, count).items()}
    return held


def find_forms(connection: Connection, term: str) -> list[tuple[str, int]]:
    """Terms of the index that may be other forms of a word, the most frequent first, each with its number of
    rows: they have its beginning, all but the last `MAX_ENDING` letters, and are no longer than it with
    another such ending. For languages whose words the stemmer leaves as they are."""
    if len(term) < MIN_FORM_LETTERS or not term.isalpha():
        return []
    begin = term[: max(MIN_FORM_LETTERS, len(term) - MAX_ENDING)]
    query = text(
        f"SELECT term, doc FROM {TERMS_TABLE} WHERE term >= :begin AND term < :end AND length(term) <= :most "
        "ORDER BY doc DESC LIMIT :k"
    )
    found = connection.execute(
        query,
        {"begin": begin, "end": f"{begin}\U0010ffff", "most": len(term) + MAX_ENDING, "k": MAX_FORMS},
    )
    return [(row[0], row[1]) for row in found if row[0] != term]


def document_frequencies(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """The number of rows of each term that has some, deleted sources included. {} without FTS5."""
    asked = dict.fromkeys(terms)
    if not asked or not _has_fts5(connection):
        return {}
    names = {f"t{n}": term for n, term in enumerate(asked)}
    query = f"SELECT term, doc FROM {TERMS_TABLE} WHERE term IN ({', '.join(f':{name}' for name in names)})"
    return {row[0]: row[1] for row in connection.execute(text(query), names)}


def count_rows(connection: Connection) -> int:
    """The number of rows of the index."""
    return int(connection.execute(text(f"SELECT count(*) FROM {FULLTEXT_TABLE}_docsize")).scalar_one())


def _quote(terms: Iterable[str]) -> list[str]:
    cleaned = (term.replace('"', "").replace("\x00", "").strip() for term in terms)
    return [f'"{term}"' for term in cleaned if term]


def _require_fts5(connection: Connection) -> None:
    if not _has_fts5(connection):
        raise StoreError(
            "search by words needs the embedded SQLite: leave DATABASE_URL empty, or search by meaning"
        )


def _has_fts5(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"
