"""What the full-text index costs as it grows, on SQLite (FTS5) and on PostgreSQL (a table of words).

    python -m bench.fulltext [--sizes 10000 100000] [--sizes-postgresql …] [--queries 100]

Passages of some 90 terms whose frequencies follow Zipf's law (60,000 words) go in as the library adds them; then
queries of four terms ask for the best 50 rows. Prints for each size seconds to build, bytes a passage and a
query's median and 95th percentile; the exit code is 1 when the two dialects rank differently at the largest size that both have."""

from __future__ import annotations

import bisect
import itertools
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from agent.store.database import Store
from agent.store.dialect import is_sqlite
from agent.store.fulltext import Row, open_fulltext
from bench import make_parser, write_figures
from bench.sessions import p95
from tests.postgres import create_database, drop_database

WORDS, BODY, HEAD, BATCH = 60_000, 84, 6, 500
TOP = 50


class Zipf:
    """Words by Zipf's law."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.sums = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def draw(self, count: int, least: int = 0) -> str:
        """So many words, none of the `least` most frequent."""
        floor = self.sums[least - 1] if least else 0.0
        found = (self.dice.uniform(floor, self.sums[-1]) for _ in range(count))
        return " ".join(f"w{bisect.bisect(self.sums, at)}" for at in found)


def make_rows(size: int) -> Iterator[list[Row]]:
    """The passages, in batches."""
    words = Zipf(1)
    for first in range(0, size, BATCH):
        numbers = range(first + 1, min(first + BATCH, size) + 1)
        yield [
            (n, words.draw(HEAD), words.draw(words.dice.randint(BODY // 2, 3 * BODY // 2))) for n in numbers
        ]


def measure(
    engine: Engine, sizes: Sequence[int], queries: int
) -> tuple[list[dict[str, Any]], dict[int, list[list[int]]]]:
    """The figures and the rows that the queries found, at each size."""
    words = Zipf(2)
    asked = [words.draw(4, least=100).split() for _ in range(queries)]  # the library leaves stop words out
    figures, found, built, rows = [], dict[int, list[list[int]]](), 0.0, 0
    with engine.begin() as connection:
        open_fulltext(connection).create()
    for batch in make_rows(max(sizes)):
        began = time.perf_counter()
        with engine.execution_options(writes=True).begin() as connection:
            open_fulltext(connection).add(batch)
        built += time.perf_counter() - began
        rows += len(batch)
        if rows in sizes:
            vacuum(engine)
            times, found[rows] = [], []
            for terms in asked:
                with engine.connect() as connection:
                    began = time.perf_counter()
                    best = open_fulltext(connection).search(terms, TOP)
                    times.append(time.perf_counter() - began)
                found[rows].append([row for row, _ in best])
            one = {"passages": rows, "build_s": round(built, 1), "bytes_a_passage": read_size(engine) // rows}
            ms = {"p50_ms": statistics.median(times) * 1000, "p95_ms": p95(times) * 1000}
            figures.append(one | {name: round(value, 1) for name, value in ms.items()})
            print(f"{engine.dialect.name}: {figures[-1]}", flush=True)
    return figures, found


def vacuum(engine: Engine) -> None:
    """Let PostgreSQL know how large its tables are, as it does by itself after a while."""
    if not is_sqlite(engine.dialect):
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE library_words, library_lengths")


def read_size(engine: Engine) -> int:
    """Bytes of the index on disk."""
    if is_sqlite(engine.dialect):
        query = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'library_words%'"
    else:
        query = "SELECT pg_total_relation_size('library_words') + pg_total_relation_size('library_lengths')"
    with engine.connect() as connection:
        return int(connection.exec_driver_sql(query).scalar() or 0)


def main() -> int:
    """Measure both."""
    parser = make_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--sizes-postgresql", type=int, nargs="+", help="by default the same")
    parser.add_argument("--queries", type=int, default=100)
    asked = parser.parse_args()
    figures, ranked = {}, list[dict[int, list[list[int]]]]()
    with tempfile.TemporaryDirectory() as folder:
        database = create_database()
        for name, address in (("sqlite", f"sqlite:///{Path(folder) / 'x.db'}"), ("postgresql", database)):
            store = Store(address)
            sizes = (asked.sizes_postgresql or asked.sizes) if name == "postgresql" else asked.sizes
            measured, found = measure(store.engine, sizes, asked.queries)
            figures[name] = {str(one.pop("passages")): one for one in measured}
            ranked.append(found)
            store.close()
        drop_database(database)
    both = max(ranked[0].keys() & ranked[1].keys())
    same = sum(one == other for one, other in zip(*(one[both] for one in ranked), strict=True))
    print(f"at {both} passages {same} of {asked.queries} queries are ranked alike")
    write_figures(asked.json, {**figures, "queries": asked.queries, "alike": same})
    return int(same < asked.queries)


if __name__ == "__main__":
    sys.exit(main())
