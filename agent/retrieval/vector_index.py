"""Search by meaning: vectors of the passages, made small, kept current, and compared.

A vector of d numbers is kept as d bytes; in memory stand d bits of it, which choose the candidates by Hamming
distance, and the bytes of these order them by cosine. A bit says on which side of the library's mean a number
lies: the vectors of many models all point roughly one way, and bare signs say little (of the exact ten best
of 2,517 passages, multilingual-e5-small, 52 % were among the first 100 by their signs, 93 % by these bits).
Vectors are made in batches outside any transaction; what was begun goes on where it stood. It knows passages
and numbers, not where a text came from."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.llm.embed import Embedder
from agent.store.database import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CANDIDATES, BATCH_SIZE, READ_SIZE = 400, 32, 20_000
"""Passages that the bits choose and the bytes order; that are embedded at once; vectors read at once, of
whose first so many the mean is taken."""
COUNT_MAX_AGE_S = 5.0
"""Seconds for which a count of the missing vectors is good enough for a note."""
MAX_EMBEDDED_CHARS = 2_000
"""Characters of a passage that are embedded; rows of a table may be longer, and models cut them anyway."""


@dataclass(frozen=True)
class _Codes:
    """The bits of all vectors of a model in memory, a column a passage: 6 MB for 100,000 of 384 bits."""

    embedder: int
    mean: NDArray[np.float32]
    mean_sample_size: int
    """How many vectors there were when the mean was taken."""
    last_seq: int
    passages: NDArray[np.int64]
    sources: NDArray[np.int64]
    bits: NDArray[np.uint64]


class VectorIndex:
    """The vectors of a store's library. Thread-safe."""

    def __init__(self, store: Store, embedder: Embedder | None, *, absent: str = "") -> None:
        self._vectors, self.embedder = store.vectors, embedder
        self.unavailable_reason = "" if embedder else absent
        """Why there is no search by meaning, as a sentence."""
        self._codes: _Codes | None = None
        self._lock, self._embed_lock = threading.Lock(), threading.Lock()
        self._missing_cache = (-math.inf, 0)

    def search(self, query: str, k: int, *, within: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """Passages nearest in meaning, best first, with their cosines. `within`: only of these sources.
        Raises ModelUnavailable."""
        import numpy as np

        if self.embedder is None or (codes := self._current_codes()) is None:
            return []
        asked = np.asarray(self.embedder.embed([query], query=True)[0], dtype=np.float32)
        if codes.embedder != self._model_id():
            return []
        columns = _nearest(codes, _sign_bits(_normalize(asked[None, :]) - codes.mean)[:, 0], within)
        # The candidates by the cosine of their bytes
        found = self._vectors.codes(codes.embedder, codes.passages[columns].tolist())
        if not found:
            return []
        cosines = _dequantize([code for _, code in found]) @ _normalize(asked[None, :])[0]
        best = np.argsort(-cosines, kind="stable")[:k]
        return [(found[i][0], float(cosines[i])) for i in best]

    def embed_pending(self, *, most: int = sys.maxsize, checkpoint: Callable[[], None] = lambda: None) -> int:
        """Make the vectors that are missing, at most `most`; returns how many were made. 0 at once when
        another thread is at it.

        `checkpoint` is called before each batch; what it raises passes through, and so does ModelUnavailable.
        """
        if self.embedder is None or not self._embed_lock.acquire(blocking=False):
            return 0
        try:
            return self._embed(self.embedder, most, checkpoint)
        finally:
            self._missing_cache = (-math.inf, 0)
            self._embed_lock.release()

    def count_missing(self) -> int:
        """How many passages on the shelf have no vector of the model in use; 0 without a model."""
        number = self._model_id()
        return self._vectors.count_unembedded(number if number is not None else -1) if self.embedder else 0

    def count_missing_cached(self) -> int:
        """The same, counted every few seconds only."""
        at, count = self._missing_cache
        if time.monotonic() - at > COUNT_MAX_AGE_S:
            count = self.count_missing()
            self._missing_cache = (time.monotonic(), count)
        return count

    def _embed(self, embedder: Embedder, most: int, checkpoint: Callable[[], None]) -> int:
        import numpy as np

        made, after = 0, 0
        while made < most:
            number = self._model_id()
            batch = self._vectors.list_unembedded(
                number if number is not None else -1, after=after, most=min(BATCH_SIZE, most - made)
            )
            if not batch:
                if number is not None:
                    self._vectors.delete_other_models(number)
                break
            checkpoint()
            texts = ["\n".join([*filter(None, (p.title, p.heading)), p.text]) for p in batch]
            cut = [text[:MAX_EMBEDDED_CHARS] for text in texts]
            rows = np.asarray(embedder.embed(cut, query=False), dtype=np.float32)
            if (number := self._model_id()) is None:
                break
            # a number's share of its vector's largest, times 127: the length is lost, a cosine does without
            largest = np.abs(rows).max(axis=1, keepdims=True)
            codes = np.rint(rows / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
            made += self._vectors.add(number, [(bare.id, codes[n].tobytes()) for n, bare in enumerate(batch)])
            after = batch[-1].id
        return made

    def _model_id(self) -> int | None:
        """The number of the model in use; None while it is not known how long its vectors are."""
        embedder = self.embedder
        if embedder is None:
            return None
        if not embedder.dimensions:
            return self._vectors.newest_embedder(embedder.name)
        return self._vectors.get_or_create_embedder(embedder.name, embedder.dimensions)

    def _current_codes(self) -> _Codes | None:
        """The codes in memory and those added since; all anew when they doubled or a quarter is gone."""
        number = self._model_id()
        if number is None:
            return None
        with self._lock:
            codes = self._codes if self._codes and self._codes.embedder == number else None
            if self._vectors.last_seq(number) > (codes.last_seq if codes else 0):
                count = self._vectors.count(number)
                if codes and (count > 2 * codes.mean_sample_size or codes.passages.size > 1.25 * count):
                    codes = None
                while rows := self._vectors.list_after(
                    number, codes.last_seq if codes else 0, most=READ_SIZE
                ):
                    codes = _append_codes(codes, rows, number, count)
            self._codes = codes
            return codes


def _dequantize(codes: Sequence[bytes]) -> NDArray[np.float32]:
    """The vectors of these codes, of length 1."""
    import numpy as np

    return _normalize(
        np.frombuffer(b"".join(codes), dtype=np.int8).reshape(len(codes), -1).astype(np.float32)
    )


def _normalize(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths: NDArray[np.float32] = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return rows / lengths


def _sign_bits(rows: NDArray[np.float32]) -> NDArray[np.uint64]:
    """The signs of each row as a column of 64-bit words, the last filled up with zeros."""
    import numpy as np

    packed = np.packbits(rows > 0, axis=1)
    words = np.zeros((len(rows), -(-packed.shape[1] // 8) * 8), np.uint8)
    words[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(words.view(np.uint64).T)


def _append_codes(
    codes: _Codes | None, new: Sequence[tuple[int, int, int, bytes]], embedder: int, count: int
) -> _Codes:
    """The codes with these rows of vectors behind them; `count`: how many there are in all."""
    import numpy as np

    units = _dequantize([row[-1] for row in new])
    passages, sources = (np.array([row[n] for row in new], np.int64) for n in (1, 2))
    if codes is None:
        mean = units.mean(axis=0)
        return _Codes(embedder, mean, count, new[-1][0], passages, sources, _sign_bits(units - mean))
    return replace(
        codes,
        last_seq=new[-1][0],
        passages=np.concatenate([codes.passages, passages]),
        sources=np.concatenate([codes.sources, sources]),
        bits=np.concatenate([codes.bits, _sign_bits(units - codes.mean)], axis=1),
    )


def _nearest(codes: _Codes, asked: NDArray[np.uint64], within: Sequence[int] | None) -> NDArray[np.int64]:
    """The columns of the candidates: the fewest bits that differ."""
    import numpy as np

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
