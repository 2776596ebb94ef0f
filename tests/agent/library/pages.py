"""Pages for a library, and what a search finds in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from agent.errors import ModelUnavailable
from agent.library.collection import Library
from agent.types import LibraryScope, Outcome, Page

HERONS = "# Herons\n\nHerons eat fish and frogs in shallow water.\n\n## Nests\n\nThey nest together in tall trees near a lake."
STORKS = "# Storks\n\nStorks build large nests on roofs and chimneys of villages."


def page(text: str, url: str = "https://a.example.org/x", **more) -> Page:
    hashed = hashlib.sha256(text.encode()).hexdigest()
    return Page(
        **{
            "url": url,
            "final_url": url,
            "outcome": Outcome.OK,
            "text": text,
            "sha256": hashed,
            "fetched_at": "2026-11-01T09:00:00Z",
            **more,
        }
    )


def ids(library: Library, query: str, k: int = 10, **scope) -> list[str]:
    return list(
        dict.fromkeys(hit.source_id for hit in library.search(query, k, scope=LibraryScope(**scope)).hits)
    )


class Bags:
    """An embedder that knows a few words' meanings: each of them turns the vector into its own direction."""

    MEANINGS = (("cat", "kitten", "feline"), ("car", "vehicle", "automobile"), ("bread", "bakery", "loaf"))

    def __init__(self, name: str = "bags", dimensions: int = 24) -> None:
        self.name, self.dimensions, self.asked, self.down = name, dimensions, 0, ""

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        if self.down:
            raise ModelUnavailable(self.down)
        self.asked += len(texts)
        return [self._one(text.lower()) for text in texts]

    def _one(self, text: str) -> list[float]:
        hits = [1.0 if any(word in text for word in words) else -1.0 for words in self.MEANINGS]
        return [hits[n % len(hits)] + n / 100 for n in range(self.dimensions)]
