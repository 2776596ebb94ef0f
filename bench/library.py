"""Measures the library at 100,000 passages: how fast pages go in, how fast they are found, and how much the
index takes on disk.

    python -m bench.library [--passages 100000] [--dimensions 384] [--queries 200]

Made-up text: words drawn from a Zipf law (the commonest are English stop words, as in any English text),
sections of 500 to 700 characters under a heading, 20 to a page. Vectors are random unit vectors from an
embedder that costs nothing; its time is left out. Times are CPU of this process; the clock's rate of adding
(it waits for the disk) is told beside it. Exit code 1 when
  * fewer than 1,000 passages go in a second (words, no vectors);
  * a page of 20 sections takes more than 15 ms to index;
  * the median search by words takes more than 15 ms, over the 100 pages of one site more than 15 ms, by words
    and meaning more than 40 ms;
  * the index (places, words, vectors) takes more than 2.5 times the text (UTF-8).
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import median, quantiles

import numpy as np
from sqlalchemy import text as sql

from agent.library.collection import Library
from agent.library.ingest import Indexer, IndexRequest, source_id_for
from agent.store.database import Store
from agent.text.word_lists import STOPWORDS
from agent.types import Heading, Outcome, Page
from bench import make_parser, write_figures

LEAST_RATE, MOST_WORDS_MS, MOST_BOTH_MS, MOST_RATIO = 1000.0, 15.0, 40.0, 2.5
MOST_PAGE_MS, SITE_PAGES = 15.0, 100
SECTIONS = 20
VOCABULARY = 60_000
SYLLABLES = "ka ro mi tel sun vor hal ne bri dan os plu ger wim fa sto lin cu mer dow ti sa per con ex ab tri mon ule gra".split()
INDEX = ("sources", "source_tags", "passages", "embedders", "vectors", "unshelved", "marks", "library_words")


class Words:
    """A vocabulary with its Zipf weights: the r-th word comes up 1 / (r + 2.7) times as often as the first
    (Mandelbrot's form)."""

    def __init__(self, dice: random.Random) -> None:
        common = sorted(word for word in STOPWORDS if word.isascii() and word.isalpha())[:120]
        made = {
            "".join(dice.choice(SYLLABLES) for _ in range(dice.choice((1, 2, 2, 3, 3, 4))))
            for _ in range(VOCABULARY * 2)
        }
        self.all = [*common, *sorted(made - set(common), key=lambda word: (len(word), word))[:VOCABULARY]]
        shares = 1 / (np.arange(len(self.all)) + 2.7)
        self._upto = np.cumsum(shares / shares.sum())
        self._dice = np.random.default_rng(7)
        self.common = len(common)

    def draw(self, n: int) -> list[str]:
        return [self.all[i] for i in np.searchsorted(self._upto, self._dice.random(n))]


def pages(words: Words, dice: random.Random, passages: int) -> Iterator[Page]:
    """Pages of `SECTIONS` sections each."""
    for number in range(passages // SECTIONS):
        parts: list[str] = []
        headings: list[Heading] = []
        length = 0
        for _ in range(SECTIONS):
            title = " ".join(words.draw(4)).capitalize()
            body = _prose(words, dice.randrange(500, 701) - len(title))
            headings.append(Heading(start=length, level=2, text=title))
            parts.append(f"{title}\n{body}\n\n")
            length += len(parts[-1])
        text = "".join(parts)
        url = f"https://h{number % 97}.example/{number}"
        yield Page(
            url=url,
            final_url=url,
            outcome=Outcome.OK,
            title=f"{' '.join(words.draw(5))} {number}",
            text=text,
            headings=headings,
            fetched_at="2026-11-21T09:00:00Z",
            sha256=hashlib.sha256(text.encode()).hexdigest(),
        )


def _prose(words: Words, length: int) -> str:
    sentences, size = [], 0
    while size < length:
        sentence = " ".join(words.draw(14)).capitalize() + "."
        sentences.append(sentence)
        size += len(sentence) + 1
    return " ".join(sentences)[:length].rstrip() + "."


class Thrown:
    """Random unit vectors, at once."""

    def __init__(self, dimensions: int) -> None:
        self.name, self.dimensions = "thrown", dimensions
        self._dice = np.random.default_rng(11)

    def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        rows = self._dice.standard_normal((len(texts), self.dimensions), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)  # type: ignore[no-any-return]


def queries(words: Words, dice: random.Random, count: int) -> list[str]:
    """Questions of two to six content words as often as they are in the text, with stop words between."""
    asked = []
    while len(asked) < count:
        drawn = words.draw(14)
        content = [word for word in drawn if word not in STOPWORDS][: dice.randrange(2, 7)]
        if content:
            asked.append("what is the " + " of the ".join(content) + "?")
    return asked


def timed(library: Library, asked: list[str], by: str) -> list[float]:
    """CPU milliseconds of each search."""
    spent = []
    for question in asked:
        began = time.process_time()
        found = library.search(question, 10)
        spent.append((time.process_time() - began) * 1000)
        assert found.hits and found.by == by, found.note
    return spent


def timed_site(library: Library, page_ids: list[str], asked: list[str]) -> list[float]:
    """CPU milliseconds of each search over the pages of a site."""
    spent = []
    for question in asked:
        began = time.process_time()
        found = library.search_pages(question, page_ids, 60)
        spent.append((time.process_time() - began) * 1000)
        assert {hit.page_id for hit in found} <= set(page_ids)
    return spent


def on_disk(store: Store) -> dict[str, int]:
    """Bytes of each of the library's tables with its indexes (dbstat), and of the texts."""
    sizes = dict.fromkeys(INDEX, 0)
    with store.engine.connect() as connection:
        names = {
            row[0]: row[1] for row in connection.execute(sql("SELECT name, tbl_name FROM sqlite_master"))
        }
        for name, size in connection.execute(sql("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")):
            table = names.get(name, name)
            owner = next(
                (own for own in INDEX if table == own or (own == "library_words" and table.startswith(own))),
                "",
            )
            if owner:
                sizes[owner] += size
    return sizes


def main() -> int:
    asked = make_parser(__doc__)
    asked.add_argument("--passages", type=int, default=100_000)
    asked.add_argument("--dimensions", type=int, default=384)
    asked.add_argument("--queries", type=int, default=200)
    options = asked.parse_args()
    dice = random.Random(5)
    words = Words(dice)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/library.db")
        library, indexer = Library(store), Indexer(store)
        clock, cpu, characters = 0.0, 0.0, 0
        made = pages(words, dice, options.passages)
        while some := list(islice(made, 500)):
            characters += sum(len(page.text.encode()) for page in some)
            wall, own = time.perf_counter(), time.process_time()
            indexer.index(IndexRequest(page, source_id_for(page)) for page in some)
            clock, cpu = clock + time.perf_counter() - wall, cpu + time.process_time() - own
        count = store.library_index.passage_count()
        print(
            f"{count:,} passages of {characters / count:.0f} bytes put in: {count / clock:,.0f} a second, {count / cpu:,.0f} a second of CPU"
        )
        per_page = cpu * 1000 * SECTIONS / count
        print(f"a page of {SECTIONS} sections: {per_page:.1f} ms of CPU (at most {MOST_PAGE_MS:.0f} ms)")
        questions = queries(words, dice, options.queries)
        told = [("words", timed(library, questions, "words"), MOST_WORDS_MS)]
        site = [held.page_id for held in library.sources(limit=SITE_PAGES, offset=count // SECTIONS // 2)]
        searches = timed_site(library, site, questions)
        told.append(("words of a site", searches, MOST_WORDS_MS))
        meaning = Library(store, Thrown(options.dimensions))
        began = time.process_time()
        kept = meaning.vector_index.embed_pending()
        print(
            f"{kept:,} vectors of {options.dimensions} kept: {kept / (time.process_time() - began):,.0f} a second of CPU"
        )
        began = time.process_time()
        meaning.search(questions[0], 10)
        print(
            f"first search by meaning, codes read into memory: {(time.process_time() - began) * 1000:,.0f} ms"
        )
        told.append(("words and meaning", timed(meaning, questions, "words and meaning"), MOST_BOTH_MS))
        sizes = on_disk(store)
        store.close()
    failed = count / cpu < LEAST_RATE or per_page > MOST_PAGE_MS
    for name, spent, most in told:
        print(
            f"search by {name}: p50 {median(spent):.1f} ms, p95 {quantiles(spent, n=20)[18]:.1f} ms (at most {most:.0f} ms p50)"
        )
        failed |= median(spent) > most
    ratio = sum(sizes.values()) / characters
    listed = ", ".join(
        f"{name} {size / characters:.2f}" for name, size in sizes.items() if size > characters / 200
    )
    print(f"on disk: {ratio:.2f} times the text ({listed}); at most {MOST_RATIO}")
    figures = {f"{name.replace(' ', '_')}_ms": round(median(spent), 1) for name, spent, _ in told}
    write_figures(
        options.json,
        {"passages": count, "rate": round(count / cpu), "disk_ratio": round(ratio, 2), **figures},
    )
    return int(failed or ratio > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
