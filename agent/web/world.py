"""Where searches and fetches go: the live web, the bundled demo, or a folder.

A world is shared by all runs that use it and thread-safe. Whatever the web does comes back as an outcome; an
engine that asked for a pause is not asked again before it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from requests.adapters import HTTPAdapter

from agent.config import ROOT, Config
from agent.errors import NotFound
from agent.types import Outcome, Page, SearchResult, SourceFilter
from agent.web.deadline import Deadline, DeadlineExceeded, run_with_deadline
from agent.web.engines.duckduckgo import DuckDuckGo
from agent.web.engines.folder import FolderIndex
from agent.web.engines.google import Google
from agent.web.fetcher import ANY_SOURCE, Fetcher
from agent.web.folder_docs import find_docs_file
from agent.web.folder_transport import FolderAdapter, FolderSite
from agent.web.rate_limit import HostRateLimiter
from agent.web.search_results import SearchEngine, explain_failure
from agent.web.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard
from agent.web.transport import GuardedAdapter

SEARCH_SECONDS = 30.0
DEMO_TODAY = "2026-11-21"
"""The current day in the demo world, so that "last week" always means the same in it."""
PROBE_SECONDS = 3.0
_GOOGLE_NOT_CONFIGURED = "no GOOGLE_API_KEY and GOOGLE_CSE_ID set"
_GOOGLE_NOT_IN_FOLDER = "a world in a folder has only its own index"
_PROBE_URL = "https://html.duckduckgo.com/"


class World:
    """Searches and fetches. `engines` names what can be searched, `absent` why an engine cannot."""

    def __init__(
        self,
        name: str,
        title: str,
        *,
        engines: Sequence[SearchEngine],
        fetcher: Fetcher,
        absent: dict[str, str],
        live: bool = False,
        today: str = "",
        probe: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self.title = title
        self.live = live
        self.engines = {engine.name: engine.label for engine in engines}
        self.absent = absent
        self.today = today
        """The day (ISO 8601) the world's pages were written for; "" means the clock's."""
        self.probe = probe
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
        """What the engine has for the query, inside `reach` as far as it supports it. Raises nothing but what
        `checkpoint` raises."""
        asked = self._engines_by_name.get(engine)
        if asked is None or not query.strip():
            reason = self.absent.get(engine, "this world has no such engine")
            detail = "There is nothing to search for." if asked else f"{engine} can't be asked: {reason}."
            return SearchResult(engine=engine, query=query, outcome=Outcome.REFUSED, detail=detail)
        if wait := self._remaining_pause(engine):
            detail = f"{asked.label} asked for a pause; it can be asked again in {max(1, round(wait))} s."
            return explain_failure(asked, query, Outcome.RATE_LIMITED, detail, wait)
        checkpoint()
        run = partial(asked.search, query, max_results, reach)
        try:
            result = run_with_deadline(run, Deadline(SEARCH_SECONDS, checkpoint)) if self.live else run()
        except DeadlineExceeded:
            return explain_failure(asked, query, Outcome.TIMEOUT)
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
        known: Page | None = None,
    ) -> Page:
        """The page at `url`, on the hosts that `reach` allows; `known` as it was fetched before. Raises
        nothing but what `checkpoint` raises."""
        return self._fetcher.fetch(url, reach=reach, checkpoint=checkpoint, known=known)

    def check(self, engine: str) -> SearchResult:
        """One cheap real search."""
        return self.search(engine, "weather" if self.live else self.title, max_results=3)

    def is_reachable(self) -> bool:
        """Whether there is a network to do research in; a world in a folder needs none."""
        try:
            self.probe()
        except (FetchRefused, HostUnreachable, DeadlineExceeded):
            return False
        return True

    def close(self) -> None:
        """Close the kept connections."""
        self._fetcher.close()

    def _remaining_pause(self, engine: str) -> float:
        with self._lock:
            return max(0.0, self._paused_until.get(engine, 0.0) - time.monotonic())


def open_world(name: str, config: Config) -> World:
    """The world called "live" or "demo", or the one in the folder `name`; raises `NotFound` with a hint."""
    if name == "live":
        return _open_live_world(config)
    folder = ROOT / "demo" if name == "demo" else Path(name).expanduser()
    if name != "demo" and not folder.is_dir():
        choices = "it is live, demo, or a folder with docs.jsonl or docs.jsonl.gz"
        raise NotFound(f"There is no world {name!r}: {choices}.")
    return _open_folder_world(name, folder, config)


def _open_live_world(config: Config) -> World:
    has_google = config.GOOGLE_API_KEY and config.GOOGLE_CSE_ID
    guard = SsrfGuard(config.FETCH_ALLOW)
    return World(
        "live",
        "The live web",
        live=True,
        engines=[DuckDuckGo(config), *([Google(config)] if has_google else [])],
        fetcher=_build_fetcher(GuardedAdapter(guard), guard, config.FETCH_GAP, config),
        absent={} if has_google else {"google": _GOOGLE_NOT_CONFIGURED},
        probe=partial(_probe_network, config),
    )


def _probe_network(config: Config) -> None:
    """Connect to the search engine and close. An endpoint that an operator names may be on their own
    network."""
    target = urlsplit(config.DDG_ENDPOINT or _PROBE_URL)
    host = target.hostname or ""
    port = target.port or (80 if target.scheme == "http" else 443)
    SsrfGuard([host, *config.FETCH_ALLOW]).connect(host, port, Deadline(PROBE_SECONDS)).close()


_folder_cache: dict[tuple[str, int, int], tuple[FolderSite, FolderIndex]] = {}
_folder_cache_lock = threading.Lock()


def _open_folder_world(name: str, path: Path, config: Config) -> World:
    site, index = _load_folder(path, config.data_folder / "worlds")
    return World(
        name,
        "The demo world" if name == "demo" else path.resolve().name,
        engines=[index],
        fetcher=_build_fetcher(FolderAdapter(site), SsrfGuard(config.FETCH_ALLOW), 0.0, config),
        absent={"google": _GOOGLE_NOT_IN_FOLDER},
        today=DEMO_TODAY if name == "demo" else "",
    )


def _load_folder(path: Path, kept_in: Path) -> tuple[FolderSite, FolderIndex]:
    """The folder's documents and index, opened once a process for each state of its file."""
    file = find_docs_file(path)
    stat = file.stat()
    key = (str(file.resolve()), stat.st_mtime_ns, stat.st_size)
    with _folder_cache_lock:
        if key not in _folder_cache:
            site = FolderSite(path, kept_in)
            note = f" ({site.store.note})" if site.store.note else ""
            label = f"the index of {path.resolve().name}{note}"
            _folder_cache[key] = (site, FolderIndex(site.store, label=label))
        return _folder_cache[key]


def _build_fetcher(adapter: HTTPAdapter, guard: SsrfGuard, gap_s: float, config: Config) -> Fetcher:
    max_bytes = int(config.FETCH_MAX_MB * 1_000_000)
    pace = HostRateLimiter(gap_s)
    return Fetcher(adapter, guard, pace, seconds=config.FETCH_TIMEOUT, max_bytes=max_bytes)
