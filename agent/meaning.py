"""Search by meaning: vectors of the passages, made small, kept current, and compared.

A vector of d numbers is kept as d bytes; in memory stand d bits of it, which choose the candidates by Hamming distance, and the
bytes of these order them by cosine. A bit says on which side of the library's mean a number lies: the vectors of many models all
point roughly one way, and bare signs say little (of the exact ten best of 2,517 passages, multilingual-e5-small, 52 % were among
the first 100 by their signs, 93 % by these bits). Vectors are made in batches outside any transaction; what was begun goes on
where it stood. It knows passages and numbers, not where a text came from.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.llm.embed import Embedder
from agent.store.database import Store
from agent.store.vectors import Bare

CANDIDATES = 400
"""Passages that the bits choose and the bytes order."""
BATCH = 32
READ = 20_000
"""Vectors read at once; the mean is that of the first so many."""
COUNTED_S = 5.0
"""Seconds for which a count of the missing vectors is good enough for a note."""
LONGEST = 2_000
"""Characters of a passage that are embedded; rows of a table may be longer, and models cut them anyway."""


@dataclass(frozen=True)
class _Codes:
    """The bits of all vectors of one model in memory, a column a passage: 100,000 of 384 bits take 6 MB with their numbers."""

    embedder: int
    mean: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    basis: int = 0
    """How many vectors there were when the mean was taken."""
    last: int = 0
    passages: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    sources: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    bits: NDArray[np.uint64] = field(default_factory=lambda: np.zeros((0, 0), np.uint64))


class Meaning:
    """The vectors of a store's library. Thread-safe."""

    def __init__(self, store: Store, embedder: Embedder | None, *, absent: str = "") -> None:
        self._vectors, self.embedder = store.vectors, embedder
        self.absent = "" if embedder else absent
        """Why there is no search by meaning, as a sentence."""
        self._codes: _Codes | None = None
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._numbers: dict[tuple[str, int], int] = {}
        self._counted = (-math.inf, 0)

    def search(self, query: str, k: int, *, within: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """Passages nearest in meaning, best first, with their cosines. `within`: only of these sources. Raises ModelUnavailable."""
        if self.embedder is None or (codes := self._current()) is None or not codes.passages.size:
            return []
        asked = np.asarray(self.embedder.embed([query], query=True)[0], dtype=np.float32)
        if codes.embedder != self._number():
            return []
        columns = _nearest(codes, _bits(_unit(asked[None, :]) - codes.mean)[:, 0], within)
        return self._ordered(codes, columns, asked, k)

    def catch_up(self, *, most: int = 1_000_000, checkpoint: Callable[[], None] = lambda: None) -> int:
        """Make the vectors that are missing, at most `most`; returns how many were made. 0 at once when another thread is at it.

        `checkpoint` is called before each batch; what it raises passes through, and so does ModelUnavailable.
        """
        if self.embedder is None or not self._making.acquire(blocking=False):
            return 0
        try:
            return self._make(self.embedder, most, checkpoint)
        finally:
            self._counted = (-math.inf, 0)
            self._making.release()

    def missing(self) -> int:
        """How many passages on the shelf have no vector of the model in use; 0 without a model."""
        number = self._number()
        return self._vectors.bare_count(number if number is not None else -1) if self.embedder else 0

    def lately_missing(self) -> int:
        """The same, counted every few seconds only."""
        at, count = self._counted
        if time.monotonic() - at > COUNTED_S:
            count = self.missing()
            self._counted = (time.monotonic(), count)
        return count

    def _make(self, embedder: Embedder, most: int, checkpoint: Callable[[], None]) -> int:
        made, after = 0, 0
        while made < most:
            number = self._number()
            batch = self._vectors.bare(number if number is not None else -1, after=after, most=min(BATCH, most - made))
            if not batch:
                if number is not None:
                    self._vectors.drop_others(number)
                break
            checkpoint()
            rows = np.asarray(embedder.embed([_said(bare) for bare in batch], query=False), dtype=np.float32)
            if (number := self._number()) is None:
                break
            made += self._vectors.add(number, _packed([bare.id for bare in batch], rows))
            after = batch[-1].id
        return made

    def _number(self) -> int | None:
        """The number of the model in use; None while it is not known how long its vectors are."""
        embedder = self.embedder
        if embedder is None:
            return None
        if not embedder.dimensions:
            return self._vectors.newest(embedder.name)
        known = (embedder.name, embedder.dimensions)
        if known not in self._numbers:
            self._numbers[known] = self._vectors.embedder(*known)
        return self._numbers[known]

    def _current(self) -> _Codes | None:
        """The codes in memory, with those added since the last look; all anew when they have doubled or a quarter of them is gone."""
        number = self._number()
        if number is None:
            return None
        with self._lock:
            codes = self._codes if self._codes and self._codes.embedder == number else _Codes(number)
            if self._vectors.last(number) > codes.last:
                count = self._vectors.count(number)
                fits = codes.basis and count <= 2 * codes.basis and codes.passages.size <= 1.25 * count
                codes = self._read(codes if fits else _Codes(number, basis=count))
            self._codes = codes
            return codes

    def _read(self, codes: _Codes) -> _Codes:
        """The codes with all vectors that are newer than theirs."""
        while rows := self._vectors.newer(codes.embedder, codes.last, most=READ):
            codes = _grown(codes, rows)
        return codes

    def _ordered(self, codes: _Codes, columns: NDArray[np.int64], asked: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """The candidates by the cosine of their bytes."""
        found = self._vectors.codes(codes.embedder, codes.passages[columns].tolist())
        if not found:
            return []
        cosines = _units([code for _, code in found]) @ _unit(asked[None, :])[0]
        best = np.argsort(-cosines, kind="stable")[:k]
        return [(found[i][0], float(cosines[i])) for i in best]


def _said(bare: Bare) -> str:
    head = "\n".join(part for part in (bare.title, bare.heading) if part)
    return f"{head}\n{bare.text}"[:LONGEST]


def _packed(ids: Sequence[int], rows: NDArray[np.float32]) -> list[tuple[int, bytes]]:
    """Each vector in bytes: a number's share of the vector's largest, times 127. Its length is lost; a cosine does without."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    codes = np.rint(rows / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
    return [(i, codes[n].tobytes()) for n, i in enumerate(ids)]


def _units(codes: Sequence[bytes]) -> NDArray[np.float32]:
    """The vectors of these codes, of length 1."""
    return _unit(np.frombuffer(b"".join(codes), dtype=np.int8).reshape(len(codes), -1).astype(np.float32))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return rows / lengths


def _bits(rows: NDArray[np.float32]) -> NDArray[np.uint64]:
    """The signs of each row as a column of 64-bit words, the last filled up with zeros."""
    packed = np.packbits(rows > 0, axis=1)
    words = np.zeros((len(rows), -(-packed.shape[1] // 8) * 8), np.uint8)
    words[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(words.view(np.uint64).T)


def _grown(codes: _Codes, new: Sequence[tuple[int, int, int, bytes]]) -> _Codes:
    units = _units([row[3] for row in new])
    mean = codes.mean if codes.mean.size else units.mean(axis=0)
    bits = _bits(units - mean)
    return _Codes(
        embedder=codes.embedder, mean=mean, basis=codes.basis, last=new[-1][0],
        passages=np.concatenate([codes.passages, np.array([row[1] for row in new], np.int64)]),
        sources=np.concatenate([codes.sources, np.array([row[2] for row in new], np.int64)]),
        bits=np.concatenate([codes.bits, bits], axis=1) if codes.bits.size else bits,
    )  # fmt: skip


def _nearest(codes: _Codes, asked: NDArray[np.uint64], within: Sequence[int] | None) -> NDArray[np.int64]:
    """The columns of the candidates: the fewest bits that differ."""
    columns: NDArray[Any] | None = None
    bits = codes.bits
    if within is not None:
        columns = np.flatnonzero(np.isin(codes.sources, np.asarray(within, np.int64)))
        bits = bits[:, columns]
    distance = np.zeros(bits.shape[1], np.uint16)
    for word, mine in zip(bits, asked, strict=True):
        distance += np.bitwise_count(word ^ mine)
    few = min(CANDIDATES, distance.size)
    nearest = np.argpartition(distance, few - 1)[:few] if few else np.zeros(0, np.int64)
    return columns[nearest] if columns is not None else nearest
