"""The full-text index of the library in two forms with the same scores: FTS5 on SQLite, a table of words on
PostgreSQL. A row is a passage, with its terms in two columns: what stands over it (`head`) and its text.

Terms are made by the library; only ASCII white space separates them. A score is BM25 as FTS5 computes it
(sqlite.org/fts5.html, 5.1.1) with `HEAD_WEIGHT`. Another engine has to fill the methods of `Fts5`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import log
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    bindparam,
    column,
    delete,
    func,
    insert,
    select,
    text,
    update,
    values,
)

from agent.store import tables
from agent.store.dialect import PlainText, is_sqlite
from agent.store.tables import key, numbers, texts

p = tables.passages.c
FULLTEXT = "library_words"
TERMS = f"{FULLTEXT}_terms"
"""FTS5's view of the index with the number of rows of each term."""
K1, B = 1.2, 0.75
"""The constants of BM25 as textbooks give them (Robertson and Zaragoza 2009); FTS5 has them built in."""
HEAD_WEIGHT = 2.0
"""Weight of a term in title, heading path or label, against 1 in the text."""
_RANK = f"bm25({FULLTEXT}, {HEAD_WEIGHT}, 1.0)"
_LEAST_IDF = 1e-6
"""FTS5's inverse document frequency of a term that more than half of the rows hold."""
MIN_FORM_LETTERS, MAX_ENDING, MAX_FORMS = 5, 2, 5
"""Letters of a word that has other forms, letters of an ending, and forms that are looked for."""
Row = tuple[int, str, str]
"""The id of a passage, the terms over it and those of its text, joined by blanks."""

word_tables = MetaData()
words = Table(
    "library_words",
    word_tables,
    *texts("term"),
    *numbers("passage head body length"),
    Index("library_terms", "term", "passage", unique=True, postgresql_include=["head", "body", "length"]),
    Index("library_words_by_passage", "passage"),
)
"""All that a score needs is in the index by terms, where the rows of a term lie side by side."""
lengths = Table("library_lengths", word_tables, key("passage", Integer), *numbers("terms"))
"""How many terms a passage has."""
totals = Table("library_totals", word_tables, *numbers("passages terms", BigInteger))
"""One row: how many there are of both."""
w, size, total = words.c, lengths.c, totals.c


def open_fulltext(connection: Connection) -> Fts5 | WordTable:
    """The index of the database of a connection."""
    return Fts5(connection) if is_sqlite(connection.dialect) else WordTable(connection)


def list_rows(connection: Connection, at_once: int) -> Iterator[Row]:
    """The rows of the index of a database by their ids, each with its terms in alphabetical order."""
    query: Any = text(f"SELECT rowid, head, body FROM {FULLTEXT} ORDER BY rowid")
    if not is_sqlite(connection.dialect):
        both = (func.string_agg(func.repeat(w.term + " ", times), "") for times in (w.head, w.body))
        rows = select(size.passage, *both).outerjoin(words, w.passage == size.passage)
        query = rows.group_by(size.passage).order_by(size.passage)
    for row, head, body in connection.execute(query.execution_options(yield_per=at_once)):
        over, under = (" ".join(sorted((terms or "").lower().split())) for terms in (head, body))
        yield row, over, under


class Fts5:
    """The index in SQLite. It keeps the terms of each row, so that a row can be removed by its id; terms are
    quoted and never read as FTS5's query language."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self) -> None:
        """Create the index anew and empty."""
        for name in (TERMS, FULLTEXT):
            self._connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")
        made = f"CREATE VIRTUAL TABLE {FULLTEXT} USING fts5(head, body, tokenize=\"ascii tokenchars '.,_'\")"
        self._connection.exec_driver_sql(made)
        self._connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {TERMS} USING fts5vocab({FULLTEXT}, 'row')")

    def remove(self, source: int) -> None:
        """Remove the rows of the passages of a source, which are still stored."""
        of_source = "rowid IN (SELECT id FROM passages WHERE source = ?)"
        self._connection.exec_driver_sql(f"DELETE FROM {FULLTEXT} WHERE {of_source}", (source,))

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows that are not there."""
        added = f"INSERT INTO {FULLTEXT}(rowid, head, body) VALUES (?, ?, ?)"
        self._connection.exec_driver_sql(added, list(rows))

    def search(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """The `k` rows that match any of the terms best, best first, with their scores."""
        match = " OR ".join(_quote(terms))
        ranked = text(
            f"SELECT rowid, -{_RANK} FROM {FULLTEXT} WHERE {FULLTEXT} MATCH :match ORDER BY {_RANK} LIMIT :k"
        )
        found = self._connection.execute(ranked, {"match": match, "k": k}) if match else ()
        return [(row[0], row[1]) for row in found]

    def document_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """How many rows hold each term; those without any are left out."""
        query = text(f"SELECT term, doc FROM {TERMS} WHERE term IN :asked")
        query = query.bindparams(bindparam("asked", expanding=True))
        return {row[0]: row[1] for row in self._connection.execute(query, {"asked": list(terms)})}

    def find_forms(self, term: str) -> list[str]:
        """Terms of the index that may be other forms of a word, the most frequent first: they have its
        beginning, all but the last `MAX_ENDING` letters, and are no longer than it with another such ending.
        For languages whose words the stemmer leaves as they are."""
        query = text(
            f"SELECT term FROM {TERMS} WHERE term >= :begin AND term < :end AND length(term) <= :most "
            "AND term <> :term ORDER BY doc DESC, term LIMIT :k"
        )
        if not (begin := _begin_of_forms(term)):
            return []
        given = {"begin": begin, "end": f"{begin}\U0010ffff", "most": len(term) + MAX_ENDING, "term": term}
        return list(self._connection.scalars(query, given | {"k": MAX_FORMS}))

    def measure(self, sources: Sequence[int]) -> dict[int, int]:
        """The number of terms of each row of the sources, by its id."""
        sizes = text(
            f"SELECT d.id, d.sz FROM passages p CROSS JOIN {FULLTEXT}_docsize d ON d.id = p.id "
            f"WHERE p.source IN ({_list(sources)})"
        )
        return {row: sum(_read_varints(block)) for row, block in self._connection.execute(sizes)}

    @cached_property
    def _totals(self) -> tuple[int, int]:
        """How many rows and terms there are."""
        averages = self._connection.scalar(text(f"SELECT block FROM {FULLTEXT}_data WHERE id = 1"))
        rows, *sums = _read_varints(averages)
        return rows, sum(sums)

    def count(self, term: str, sources: Sequence[int], within: Mapping[int, int]) -> dict[int, float]:
        """For each row of the sources that holds a term the saturated count (0..1) of its occurrences; the
        lengths are measured by the mean of the rows `within`, with the number of terms of each."""
        query = text(
            f"SELECT {FULLTEXT}.rowid, -{_RANK} FROM {FULLTEXT} "
            f"CROSS JOIN passages p ON p.id = {FULLTEXT}.rowid WHERE {FULLTEXT} MATCH :match "
            f"AND {FULLTEXT}.rowid BETWEEN :low AND :high AND p.source IN ({_list(sources)})"
        )
        rows, terms = self._totals
        mean = sum(within.values()) / len(within)
        scale = _weigh(rows, self.document_frequencies([term]).get(term, 0)) * (K1 + 1)
        places, found = {"low": min(within), "high": max(within)}, dict[int, float]()
        for quoted in _quote([term]):
            for row, score in self._connection.execute(query, {"match": quoted, **places}):
                there, here = (1 - B + B * within[row] / one for one in (terms / rows, mean))
                found[row] = score * there / (scale * here + score * (there - here))
        return found


class WordTable:
    """The index in PostgreSQL, without an extension: a row a term and passage. Changes come one by one: the
    library has a lock."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self) -> None:
        """Create it."""
        word_tables.drop_all(self._connection)
        word_tables.create_all(self._connection)
        self._connection.execute(insert(totals).values(passages=0, terms=0))

    def remove(self, source: int) -> None:
        """Remove the rows of a source."""
        gone = select(p.id).where(p.source == source)
        self._connection.execute(delete(words).where(w.passage.in_(gone)))
        sizes = self._connection.scalars(delete(lengths).where(size.passage.in_(gone)).returning(size.terms))
        self._change_totals(-1, sizes.all())

    def _change_totals(self, sign: int, sizes: Sequence[int]) -> None:
        passages, terms = total.passages + sign * len(sizes), total.terms + sign * sum(sizes)
        self._connection.execute(update(totals).values(passages=passages, terms=terms))

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        found, sizes = list[tuple[object, ...]](), list[int]()
        for row, head, body in rows:
            over, under = Counter(head.lower().split()), Counter(body.lower().split())
            sizes.append(over.total() + under.total())
            found += [(term, row, over[term], under[term], sizes[-1]) for term in over | under]
        self._insert(lengths, [(row[0], terms) for row, terms in zip(rows, sizes, strict=True)])
        self._insert(words, found)
        self._change_totals(1, sizes)

    def _insert(self, table: Table, rows: Sequence[Sequence[object]]) -> None:
        """Insert rows as one array a column: as rows they would take ten times as long."""
        arrays = (
            func.unnest(bindparam(one.name, [*values], ARRAY(one.type)))
            for one, values in zip(table.c, zip(*rows, strict=True), strict=False)
        )
        if rows:
            self._connection.execute(insert(table).from_select(table.c.keys(), select(*arrays)))

    def search(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """The best rows."""
        asked = Counter(quoted.strip('"') for quoted in _quote(terms))
        rows, all_terms = self._connection.execute(select(totals)).one()
        held = self.document_frequencies(asked)
        if not held:
            return []
        weighed = [(term, asked[term] * _weigh(rows, holding)) for term, holding in held.items()]
        q = values(column("term", PlainText()), column("idf", Float()), name="asked").data(weighed).c
        score = func.sum(q.idf * (K1 + 1) * _saturate(float(all_terms) / rows))
        joined = words.join(q.term.table, q.term == w.term)
        best = select(w.passage, score).select_from(joined).group_by(w.passage)
        found = self._connection.execute(best.order_by(score.desc(), w.passage).limit(k))
        return [(row[0], row[1]) for row in found]

    def document_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """How many rows hold each term."""
        query = select(w.term, func.count()).where(w.term.in_(list(terms))).group_by(w.term)
        return {row[0]: row[1] for row in self._connection.execute(query)}

    def find_forms(self, term: str) -> list[str]:
        """Other forms of a word."""
        if not (begin := _begin_of_forms(term)):
            return []
        alike = (w.term >= begin, w.term < f"{begin}\U0010ffff", w.term != term)
        query = select(w.term).where(*alike, func.length(w.term) <= len(term) + MAX_ENDING).group_by(w.term)
        return list(self._connection.scalars(query.order_by(func.count().desc(), w.term).limit(MAX_FORMS)))

    def measure(self, sources: Sequence[int]) -> dict[int, int]:
        """Lengths."""
        joined = lengths.join(tables.passages, p.id == size.passage)
        query = select(size.passage, size.terms).select_from(joined).where(_is_of(sources))
        return {row[0]: row[1] for row in self._connection.execute(query)}

    def count(self, term: str, sources: Sequence[int], within: Mapping[int, int]) -> dict[int, float]:
        """Saturated counts."""
        share = _saturate(sum(within.values()) / len(within))
        joined = words.join(tables.passages, p.id == w.passage)
        query = select(w.passage, share).select_from(joined).where(w.term == term, _is_of(sources))
        return {row[0]: row[1] for row in self._connection.execute(query)}


def _is_of(sources: Sequence[int]) -> ColumnElement[bool]:
    """Whether a passage is of these, their numbers written out: a query has at most 65,535 parameters."""
    return p.source.in_(bindparam("sources", list(sources), expanding=True, literal_execute=True))


def _saturate(mean: float) -> ColumnElement[Any]:
    """The saturated count (0..1) of a term in a passage, lengths measured by this mean, as SQL."""
    occurrences = w.head * HEAD_WEIGHT + w.body
    return occurrences / (occurrences + K1 * (1 - B + B * w.length / mean))


def _weigh(rows: int, holding: int) -> float:
    """The inverse document frequency of a term as FTS5 computes it."""
    return max(log(max(1, (2 * (rows - holding) + 1) / (2 * holding + 1))), _LEAST_IDF)


def _begin_of_forms(term: str) -> str:
    has_forms = len(term) >= MIN_FORM_LETTERS and term.isalpha()
    return term[: max(MIN_FORM_LETTERS, len(term) - MAX_ENDING)] if has_forms else ""


def _list(numbers: Iterable[int]) -> str:
    """Numbers written out: a query has at most 32,766 parameters."""
    return ",".join(str(int(number)) for number in numbers)


def _read_varints(block: bytes) -> list[int]:
    """The numbers of a record of FTS5: seven bits a byte, the highest first, another byte follows from 128
    on."""
    found, number = list[int](), 0
    for byte in block:
        more, low = divmod(byte, 128)
        number = number * 128 + low
        if not more:
            found.append(number)
            number = 0
    return found


def _quote(terms: Iterable[str]) -> list[str]:
    cleaned = (term.replace('"', "").replace("\x00", "").strip() for term in terms)
    return [f'"{term}"' for term in cleaned if term]
