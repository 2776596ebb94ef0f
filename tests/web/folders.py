"""Small folder worlds for tests: a few pages written into a folder, and a world whose engine or pages do as
they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent.types import Outcome, Page, SearchResult


def write_world(
    folder: Path, docs: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]] = ()
) -> str:
    """Write `docs.jsonl` (ids are given where they lack) and, when there are any, `questions.jsonl`; returns
    the world's name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (
        ("docs", [{"id": f"d{n}", **doc} for n, doc in enumerate(docs)]),
        ("questions", questions),
    ):
        if rows:
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return str(folder)


def page(url: str, title: str, text: str, **more: Any) -> dict[str, Any]:
    """One document."""
    return {"url": url, "title": title, "text": text, **more}


class Told:
    """A world around another whose searches and fetches can be replaced; what was asked for is kept in
    `asked`."""

    def __init__(
        self,
        world: Any,
        *,
        search: Callable[[str, str], SearchResult | None] = lambda engine, query: None,
        fetch: Callable[[str], Page | None] = lambda url: None,
        engines: dict[str, str] | None = None,
    ) -> None:
        self.world, self.live, self.absent = world, world.live, world.absent
        self.engines = engines or world.engines
        self.asked: list[str] = []
        self._search, self._fetch = search, fetch

    def search(self, engine: str, query: str, **more: Any) -> SearchResult:
        self.asked.append(f"{engine}: {query}")
        known = "duckduckgo" if engine not in self.world.engines else engine
        return self._search(engine, query) or self.world.search(known, query, **more)

    def fetch(self, url: str, **more: Any) -> Page:
        self.asked.append(url)
        return self._fetch(url) or self.world.fetch(url, **more)

    def close(self) -> None:
        self.world.close()


def limited(engine: str, query: str, retry_after_s: float | None = 300.0) -> SearchResult:
    """An engine that asks for a pause."""
    return SearchResult(
        engine=engine,
        query=query,
        outcome=Outcome.RATE_LIMITED,
        detail="too many searches",
        retry_after_s=retry_after_s,
    )


def blocked(engine: str, query: str) -> SearchResult:
    """An engine that would not answer."""
    return SearchResult(
        engine=engine, query=query, outcome=Outcome.BLOCKED, detail="the engine asked for a captcha"
    )
