"""Where searches and fetches go: the live web, the bundled demo, or a folder. The one door of the tools.

A world is shared by all runs that use it and safe from many threads. Whatever the web does comes back as an
outcome; an engine that asked for a pause is not asked again before it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from agent.config import ROOT, Config
from agent.errors import NotFound
from agent.types import Outcome, Page, SearchResult, SourceFilter
from agent.web.deadline import Deadline, DeadlineExceeded, run_with_deadline
from agent.web.engines.duckduckgo import DuckDuckGo
from agent.web.engines.folder import FolderIndex
from agent.web.engines.google import Google
from agent.web.fetcher import ANY_SOURCE, Fetcher
from agent.web.folder_transport import FolderAdapter, FolderSite, find_docs_file
from agent.web.rate_limit import HostRateLimiter
from agent.web.search_results import RawResult, SearchEngine
from agent.web.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard
from agent.web.transport import GuardedAdapter

SEARCH_SECONDS = 30.0
DEMO_TODAY = "2026-11-21"
"""The day it is in the bundled world, so that "last week" means the same in it at any time."""
PROBE_SECONDS = 3.0
_GOOGLE_NOT_CONFIGURED = "no GOOGLE_API_KEY and GOOGLE_CSE_ID set"
_GOOGLE_NOT_IN_FOLDER = "a world in a folder has only its own index"
_PROBE_URL = "https://html.duckduckgo.com/"


def open_world(name: str, config: Config) -> World:
    """The world called "live" or "demo", or the one in the folder `name`; raises `NotFound` with a hint."""
    if name == "live":
        return _open_live_world(config)
    folder = ROOT / "demo" if name == "demo" else Path(name).expanduser()
    if name != "demo" and not folder.is_dir():
        raise NotFound(
            f"There is no world {name!r}: it is live, demo, or a folder with docs.jsonl or docs.jsonl.gz."
        )
    return _open_folder_world(name, folder, config)


class World:
    """Searches and fetches. `engines` names what can be asked, `absent` why something can't."""

    def __init__(
        self,
        name: str,
        title: str,
        *,
        engines: Sequence[SearchEngine],
        fetcher: Fetcher,
        absent: dict[str, str],
        live: bool = False,
    ) -> None:
        self.name = name
        self.title = title
        self.live = live
        self.engines = {engine.name: engine.label for engine in engines}
        self.absent = absent
        self.today = ""
        """The day (ISO 8601) the world's pages were written for; "" means the clock's."""
        self.probe: Callable[[], None] = lambda: None
        self._engines_by_name = {engine.name: engine for engine in engines}
        self._fetcher = fetcher
        self._paused_until: dict[str, float] = {}
        self._lock = threading.Lock()

    def search(
        self,
        engine: str,
        query: str,
        *,
        max_results: int = 10,
        checkpoint: Callable[[], None] = lambda: None,
        reach: SourceFilter = ANY_SOURCE,
    ) -> SearchResult:
        """What the engine has for the query; it is told of `reach` as far as it understands. Raises nothing
        but what `checkpoint` raises."""
        asked = self._engines_by_name.get(engine)
        if asked is None:
            why = self.absent.get(engine, "this world has no such engine")
            return SearchResult(
                engine=engine, query=query, outcome=Outcome.REFUSED, detail=f"{engine} can't be asked: {why}."
            )
        if not query.strip():
            return SearchResult(
                engine=engine, query=query, outcome=Outcome.REFUSED, detail="There is nothing to search for."
            )
        if rest := self._remaining_pause(engine):
            return _build_pause_result(asked, query, rest)
        checkpoint()
        look = partial(asked.search, query, max_results, reach)
        result = self._search_within_deadline(asked, query, look, checkpoint) if self.live else look()
        if result.outcome is Outcome.RATE_LIMITED and result.retry_after_s:
            with self._lock:
                self._paused_until[engine] = time.monotonic() + result.retry_after_s
        return result

    def fetch(
        self,
        url: str,
        *,
        reach: SourceFilter = ANY_SOURCE,
        checkpoint: Callable[[], None] = lambda: None,
        skimmed: bool = False,
    ) -> Page:
        """The page at `url`, on the hosts that `reach` admits; `skimmed`: only at a glance. Raises nothing
        but what `checkpoint` raises."""
        return self._fetcher.fetch(url, reach=reach, checkpoint=checkpoint, skimmed=skimmed)

    def check(self, engine: str) -> SearchResult:
        """One cheap real search."""
        return self.search(engine, "weather" if self.live else self.title, max_results=3)

    def is_reachable(self) -> bool:
        """Is there a network to do research in? A world in a folder needs none."""
        try:
            self.probe()
        except (FetchRefused, HostUnreachable, DeadlineExceeded):
            return False
        return True

    def close(self) -> None:
        """Let go of connections."""
        self._fetcher.close()

    def _remaining_pause(self, engine: str) -> float:
        with self._lock:
            return max(0.0, self._paused_until.get(engine, 0.0) - time.monotonic())

    def _search_within_deadline(
        self,
        engine: SearchEngine,
        query: str,
        look: Callable[[], SearchResult],
        checkpoint: Callable[[], None],
    ) -> SearchResult:
        try:
            return run_with_deadline(look, Deadline(SEARCH_SECONDS, checkpoint))
        except DeadlineExceeded:
            detail = f"{engine.label} did not answer in time. Try again, or search with another engine."
            return SearchResult(engine=engine.name, query=query, outcome=Outcome.TIMEOUT, detail=detail)


def _build_pause_result(engine: SearchEngine, query: str, rest: float) -> SearchResult:
    detail = f"{engine.label} asked for a pause; it can be asked again in {max(1, round(rest))} s."
    return SearchResult(
        engine=engine.name, query=query, outcome=Outcome.RATE_LIMITED, detail=detail, retry_after_s=rest
    )


def _open_live_world(config: Config) -> World:
    guard = SsrfGuard(config.FETCH_ALLOW)
    engines: list[SearchEngine] = [DuckDuckGo(config)]
    absent = {}
    if config.GOOGLE_API_KEY and config.GOOGLE_CSE_ID:
        engines.append(Google(config))
    else:
        absent["google"] = _GOOGLE_NOT_CONFIGURED
    fetcher = _build_fetcher(GuardedAdapter(guard), guard, HostRateLimiter(config.FETCH_GAP), config)
    world = World("live", "The live web", live=True, engines=engines, fetcher=fetcher, absent=absent)
    world.probe = lambda: _probe_network(config)
    return world


def _probe_network(config: Config) -> None:
    """Connect to the search engine and hang up. An endpoint that an operator names may lie on their own
    network."""
    target = urlsplit(config.DDG_ENDPOINT or _PROBE_URL)
    host = target.hostname or ""
    guard = SsrfGuard([host, *config.FETCH_ALLOW])
    guard.connect(
        host, target.port or (80 if target.scheme == "http" else 443), Deadline(PROBE_SECONDS)
    ).close()


_folder_cache: dict[tuple[str, int, int], tuple[FolderSite, FolderIndex]] = {}
_folder_cache_lock = threading.Lock()


def _open_folder_world(name: str, path: Path, config: Config) -> World:
    folder, index = _load_folder(path)
    guard = SsrfGuard(config.FETCH_ALLOW)
    title = "The demo world" if name == "demo" else path.resolve().name
    fetcher = _build_fetcher(FolderAdapter(folder), guard, HostRateLimiter(0.0), config)
    world = World(
        name, title, live=False, engines=[index], fetcher=fetcher, absent={"google": _GOOGLE_NOT_IN_FOLDER}
    )
    world.today = DEMO_TODAY if name == "demo" else ""
    return world


def _load_folder(path: Path) -> tuple[FolderSite, FolderIndex]:
    """The folder's documents and index, made once a process for each state of its file."""
    file = find_docs_file(path)
    stat = file.stat()
    key = (str(file.resolve()), stat.st_mtime_ns, stat.st_size)
    with _folder_cache_lock:
        if key not in _folder_cache:
            folder = FolderSite(path)
            documents = (RawResult(*found) for found in folder.searchable_documents())
            _folder_cache[key] = (folder, FolderIndex(documents, label=f"the index of {path.resolve().name}"))
        return _folder_cache[key]


def _build_fetcher(
    adapter: GuardedAdapter | FolderAdapter, guard: SsrfGuard, pace: HostRateLimiter, config: Config
) -> Fetcher:
    return Fetcher(
        adapter,
        guard,
        pace,
        seconds=config.FETCH_TIMEOUT,
        max_bytes=int(config.FETCH_MAX_MB * 1_000_000),
    )
