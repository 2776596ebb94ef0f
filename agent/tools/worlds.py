"""Where searches and fetches go: the live web, the bundled demo, or a folder. The one door of the tools.

A world is shared by all runs that use it and safe from many threads. Whatever the web does comes back as an outcome; an
engine that asked for a pause is not asked again before it is over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from agent.config import ROOT, Config
from agent.errors import NotFound
from agent.tools.engines.duckduckgo import DuckDuckGo
from agent.tools.engines.folder import FolderIndex
from agent.tools.engines.google import Google
from agent.tools.fetch import ANYWHERE, Fetcher
from agent.tools.folder import Folder, FolderAdapter, docs_file
from agent.tools.guard import Forbidden, Guard, Unreachable
from agent.tools.pace import Pace
from agent.tools.search import Engine, Raw
from agent.tools.watch import Late, Watch, patiently
from agent.tools.wire import GuardedAdapter
from agent.types import Outcome, Page, Reach, SearchResult

SEARCH_SECONDS = 30.0
DEMO_TODAY = "2026-11-21"
"""The day it is in the bundled world, so that "last week" means the same in it at any time."""
REACH_SECONDS = 3.0
_NO_GOOGLE = "no GOOGLE_API_KEY and GOOGLE_CSE_ID set"
_FOLDER_GOOGLE = "a world in a folder has only its own index"
_REACH = "https://html.duckduckgo.com/"


def open_world(name: str, config: Config) -> World:
    """The world called "live" or "demo", or the one in the folder `name`; raises `NotFound` with a hint."""
    if name == "live":
        return _live(config)
    folder = ROOT / "demo" if name == "demo" else Path(name).expanduser()
    if name != "demo" and not folder.is_dir():
        raise NotFound(f"There is no world {name!r}: it is live, demo, or a folder with docs.jsonl or docs.jsonl.gz.")
    return _folder(name, folder, config)


class World:
    """Searches and fetches. `engines` names what can be asked, `absent` why something can't."""

    def __init__(self, name: str, title: str, *, engines: Sequence[Engine], fetcher: Fetcher, absent: dict[str, str], live: bool = False) -> None:
        self.name = name
        self.title = title
        self.live = live
        self.engines = {engine.name: engine.label for engine in engines}
        self.absent = absent
        self.today = ""
        """The day (ISO 8601) the world's pages were written for; "" means the clock's."""
        self.probe: Callable[[], None] = lambda: None
        self._asked = {engine.name: engine for engine in engines}
        self._fetcher = fetcher
        self._resting: dict[str, float] = {}
        self._lock = threading.Lock()

    def search(
        self, engine: str, query: str, *, max_results: int = 10, checkpoint: Callable[[], None] = lambda: None, reach: Reach = ANYWHERE
    ) -> SearchResult:
        """What the engine has for the query; it is told of `reach` as far as it understands. Raises nothing but what `checkpoint` raises."""
        asked = self._asked.get(engine)
        if asked is None:
            why = self.absent.get(engine, "this world has no such engine")
            return SearchResult(engine=engine, query=query, outcome=Outcome.REFUSED, detail=f"{engine} can't be asked: {why}.")
        if not query.strip():
            return SearchResult(engine=engine, query=query, outcome=Outcome.REFUSED, detail="There is nothing to search for.")
        if rest := self._rest(engine):
            return _pausing(asked, query, rest)
        checkpoint()
        look = partial(asked.search, query, max_results, reach)
        result = self._patiently(asked, query, look, checkpoint) if self.live else look()
        if result.outcome is Outcome.RATE_LIMITED and result.retry_after_s:
            with self._lock:
                self._resting[engine] = time.monotonic() + result.retry_after_s
        return result

    def fetch(self, url: str, *, reach: Reach = ANYWHERE, checkpoint: Callable[[], None] = lambda: None, skimmed: bool = False) -> Page:
        """The page at `url`, on the hosts that `reach` admits; `skimmed`: only at a glance. Raises nothing but what `checkpoint` raises."""
        return self._fetcher.fetch(url, reach=reach, checkpoint=checkpoint, skimmed=skimmed)

    def check(self, engine: str) -> SearchResult:
        """One cheap real search."""
        return self.search(engine, "weather" if self.live else self.title, max_results=3)

    def reachable(self) -> bool:
        """Is there a network to do research in? A world in a folder needs none."""
        try:
            self.probe()
        except (Forbidden, Unreachable, Late):
            return False
        return True

    def close(self) -> None:
        """Let go of connections."""
        self._fetcher.close()

    def _rest(self, engine: str) -> float:
        with self._lock:
            return max(0.0, self._resting.get(engine, 0.0) - time.monotonic())

    def _patiently(self, engine: Engine, query: str, look: Callable[[], SearchResult], checkpoint: Callable[[], None]) -> SearchResult:
        try:
            return patiently(look, Watch(SEARCH_SECONDS, checkpoint))
        except Late:
            detail = f"{engine.label} did not answer in time. Try again, or search with another engine."
            return SearchResult(engine=engine.name, query=query, outcome=Outcome.TIMEOUT, detail=detail)


def _pausing(engine: Engine, query: str, rest: float) -> SearchResult:
    detail = f"{engine.label} asked for a pause; it can be asked again in {max(1, round(rest))} s."
    return SearchResult(engine=engine.name, query=query, outcome=Outcome.RATE_LIMITED, detail=detail, retry_after_s=rest)


def _live(config: Config) -> World:
    guard = Guard(config.words("FETCH_ALLOW"))
    engines: list[Engine] = [DuckDuckGo(config)]
    absent = {}
    if config["GOOGLE_API_KEY"] and config["GOOGLE_CSE_ID"]:
        engines.append(Google(config))
    else:
        absent["google"] = _NO_GOOGLE
    fetcher = _fetcher(GuardedAdapter(guard), guard, Pace(config.number("FETCH_GAP")), config)
    world = World("live", "The live web", live=True, engines=engines, fetcher=fetcher, absent=absent)
    world.probe = lambda: _reach(config)
    return world


def _reach(config: Config) -> None:
    """Connect to the search engine and hang up. An endpoint that an operator names may lie on their own network."""
    target = urlsplit(config["DDG_ENDPOINT"] or _REACH)
    host = target.hostname or ""
    guard = Guard([host, *config.words("FETCH_ALLOW")])
    guard.connect(host, target.port or (80 if target.scheme == "http" else 443), Watch(REACH_SECONDS)).close()


_folders: dict[tuple[str, int, int], tuple[Folder, FolderIndex]] = {}
_folders_lock = threading.Lock()


def _folder(name: str, path: Path, config: Config) -> World:
    folder, index = _loaded(path)
    guard = Guard(config.words("FETCH_ALLOW"))
    title = "The demo world" if name == "demo" else path.resolve().name
    fetcher = _fetcher(FolderAdapter(folder), guard, Pace(0.0), config)
    world = World(name, title, live=False, engines=[index], fetcher=fetcher, absent={"google": _FOLDER_GOOGLE})
    world.today = DEMO_TODAY if name == "demo" else ""
    return world


def _loaded(path: Path) -> tuple[Folder, FolderIndex]:
    """The folder's documents and index, made once a process for each state of its file."""
    file = docs_file(path)
    stat = file.stat()
    key = (str(file.resolve()), stat.st_mtime_ns, stat.st_size)
    with _folders_lock:
        if key not in _folders:
            folder = Folder(path)
            documents = (Raw(*found) for found in folder.findable())
            _folders[key] = (folder, FolderIndex(documents, label=f"the index of {path.resolve().name}"))
        return _folders[key]


def _fetcher(adapter: GuardedAdapter | FolderAdapter, guard: Guard, pace: Pace, config: Config) -> Fetcher:
    return Fetcher(adapter, guard, pace, seconds=config.number("FETCH_TIMEOUT"), max_bytes=int(config.number("FETCH_MAX_MB") * 1_000_000))
