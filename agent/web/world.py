"""Where searches and fetches go: the live web, the bundled demo, or a folder.

A world is shared by all runs that use it and thread-safe. Whatever the web does comes back as an outcome; an
engine that asked for a pause is not asked again before it is over."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTP_PORT, HTTPS_PORT
from pathlib import Path
from urllib.parse import urlsplit

from agent import counters
from agent.errors import NotFound
from agent.net.deadline import AllBusy, Deadline, DeadlineExceeded, use_deadline
from agent.net.exchange import Connections
from agent.net.policies import MB, PAGE, Policy
from agent.net.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard
from agent.settings.config import ROOT, Config
from agent.settings.key_addresses import explain_unused_key
from agent.types import ENGINE_NAMES, ENGINES, Outcome, Page, SearchResult, SourceFilter
from agent.web.engines.duckduckgo import DuckDuckGo
from agent.web.engines.google import Google
from agent.web.engines.http_api import ApiEngine
from agent.web.fetcher import ANY_SOURCE, Fetcher
from agent.web.folder_world import open_folder
from agent.web.http_outcomes import MISREAD
from agent.web.rate_limit import HostRateLimiter
from agent.web.search_results import SearchEngine, explain_failure, find_pause
from agent.web.unpaywall import OpenCopy, Unpaywall

log = logging.getLogger(__name__)
SEARCH_SECONDS = 30.0
PROBE_SECONDS = 3.0


@dataclass(frozen=True)
class EngineHealth:
    """How an engine answered last, `at` on the monotonic clock, and for how long it is not asked then."""

    outcome: Outcome
    detail: str
    at: float
    pause_s: float

    def remaining_pause(self) -> float:
        """Seconds until it may be asked again."""
        return max(0.0, self.at + self.pause_s - time.monotonic())

    @property
    def description(self) -> str:
        """What happened, how long ago, and until when it rests, in a sentence."""
        told = self.detail or "It answered."
        ago = time.monotonic() - self.at
        rest = self.remaining_pause()
        when = "just now" if ago < 60 else f"{round(ago / 60)} min ago"
        return f"Last search, {when}: {told}" + (
            f" Not asked for another {max(1, round(rest))} s." if rest else ""
        )


class World:
    """Searches and fetches. `engines` names what can be searched, `absent` why an engine cannot; `close`
    closes the kept connections."""

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
        unpaywall: Unpaywall | None = None,
        take_page: Callable[[int], str] = lambda pages: "",
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.name, self.close = name, close
        self.title = title
        self.live = live
        self.engines = {engine.name: engine.label for engine in engines}
        self.absent = absent
        self.today = today
        """The day (ISO 8601) the world's pages were written for; "" means the clock's."""
        self.probe = probe
        self._engines_by_name = {engine.name: engine for engine in engines}
        self._fetcher = fetcher
        self._unpaywall, self._take_page = unpaywall, take_page
        self.health: dict[str, EngineHealth] = {}
        """How each engine answered last."""
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
        """What the engine has for the query, inside `reach` where it can. Raises what `checkpoint` raises."""
        asked = self._engines_by_name.get(engine)
        if asked is None or not query.strip():
            reason = self.absent.get(engine, "this world has no such engine")
            detail = "There is nothing to search for." if asked else f"{engine} can't be asked: {reason}."
            return SearchResult(engine=engine, query=query, outcome=Outcome.REFUSED, detail=detail)
        if (last := self.health.get(engine)) and (wait := self._admit(engine, last)):
            is_limited = last.outcome is Outcome.RATE_LIMITED
            why = "asked for a pause" if is_limited else "did not answer"
            detail = f"{asked.label} {why}; it can be asked again in {max(1, round(wait))} s."
            return explain_failure(asked, query, last.outcome, detail, wait if is_limited else None)
        checkpoint()
        try:
            with use_deadline(Deadline(SEARCH_SECONDS, checkpoint, patience=SEARCH_SECONDS)):
                result = asked.search(query, max_results, reach)
        except AllBusy:
            advice = "Try again in a minute, or use another engine meanwhile."
            busy = f"All searches with {asked.label} are busy for others. {advice}"
            return explain_failure(asked, query, Outcome.TIMEOUT, busy, 0.0)
        except MISREAD:
            log.warning("an answer of %s could not be read", engine, exc_info=True)
            odd = f"{asked.label} gave an answer that could not be understood. Use another engine."
            result = explain_failure(asked, query, Outcome.ERROR, odd)
        health = EngineHealth(result.outcome, result.detail, time.monotonic(), find_pause(result))
        with self._lock:
            self.health[engine] = health
        if self.live:
            counters.count("searches", engine, result.outcome.value)
        return result

    def _admit(self, engine: str, last: EngineHealth) -> float:
        """Seconds until the engine may be asked, 0 for now. Of all runs one asks an engine that has failed
        and whose pause is over: for the others the pause begins again."""
        with self._lock:
            now = self.health.get(engine, last)
            wait = now.remaining_pause()
            if now.pause_s and not wait:
                self.health[engine] = replace(now, at=time.monotonic())
            return wait

    def fetch(
        self,
        url: str,
        *,
        reach: SourceFilter = ANY_SOURCE,
        checkpoint: Callable[[], None] = lambda: None,
        known: Page | None = None,
    ) -> Page:
        """The page at `url`, on the hosts that `reach` allows; `known` as it was fetched before. Refused
        where a quota is used up. Raises nothing but what `checkpoint` raises."""
        if self.live and (over := self._take_page(1)):
            return Page(url=url, final_url=url, outcome=Outcome.REFUSED, detail=f"Not fetched: {over}.")
        page = self._fetcher.fetch(url, reach=reach, checkpoint=checkpoint, known=known)
        if self.live:
            counters.count("pages", page.outcome.value)
            if page.outcome is Outcome.REFUSED and not page.redirects:
                self._take_page(-1)
        return page

    def find_open_copy(self, doi: str, checkpoint: Callable[[], None] = lambda: None) -> OpenCopy:
        """Where a paper may be read without paying; a world in a folder knows of none. Raises what
        `checkpoint` raises."""
        with use_deadline(Deadline(SEARCH_SECONDS, checkpoint)):
            return self._unpaywall.find_copy(doi) if self._unpaywall else OpenCopy()

    def check(self, engine: str) -> SearchResult:
        """One cheap real search. An engine that asked for a pause is left alone, a blocked one is tried."""
        if (last := self.health.get(engine)) and last.outcome is not Outcome.RATE_LIMITED:
            self.health.pop(engine, None)
        return self.search(engine, "weather" if self.live else self.title, max_results=3)

    def is_reachable(self) -> bool:
        """Whether there is a network to do research in; a world in a folder needs none."""
        try:
            self.probe()
        except (FetchRefused, HostUnreachable, DeadlineExceeded):
            return False
        return True


def open_world(
    name: str,
    config: Config,
    pace: HostRateLimiter | None = None,
    take_page: Callable[[int], str] = lambda pages: "",
) -> World:
    """The world called "live" or "demo", or the one in the folder `name`; raises `NotFound` with a hint.
    `pace` is the limiter that several live worlds share; `take_page` counts a page that the live web is asked
    for (-1: it was not asked) and says why it may not be."""
    most = replace(PAGE, max_bytes=int(config.FETCH_MAX_MB * MB), seconds=config.FETCH_TIMEOUT)
    if name == "live":
        return _open_live_world(config, most, pace or HostRateLimiter(config.FETCH_GAP), take_page)
    folder = ROOT / "demo" if name == "demo" else Path(name).expanduser()
    if name != "demo" and not folder.is_dir():
        choices = "it is live, demo, or a folder with docs.jsonl or docs.jsonl.gz"
        raise NotFound(f"There is no world {name!r}: {choices}.")
    served = open_folder(folder, config.data_folder / "worlds")
    return World(
        name,
        "The demo world" if name == "demo" else folder.resolve().name,
        engines=[served],
        fetcher=Fetcher(
            lambda policy, url, headers: served.serve(url),
            *(SsrfGuard(config.FETCH_ALLOW), HostRateLimiter(0.0), most),
        ),
        absent={n: "a world in a folder has only its own index" for n in ENGINE_NAMES if n != served.name},
        today="2026-11-21" if name == "demo" else "",  # so that "last week" always means the same in it
    )


def build_engines(
    config: Config, pace: HostRateLimiter | None = None
) -> tuple[list[SearchEngine], dict[str, str]]:
    """The engines that may be asked, in the order of the registry, and the others with the reason; those with
    an API share `pace`."""
    found: list[SearchEngine] = []
    absent: dict[str, str] = {}
    for profile in ENGINES:
        missing = [name for name in profile.needs if not getattr(config, name)]
        unused = [told for name in profile.needs if (told := explain_unused_key(config, name))]
        if profile.name in config.ENGINES_OFF:
            absent[profile.name] = "switched off"
        elif missing:
            absent[profile.name] = f"no {' and '.join(missing)} set"
        elif unused:
            absent[profile.name] = " ".join(unused)
        elif profile.name == "duckduckgo":
            found.append(DuckDuckGo(config))
        elif profile.name == "google":
            found.append(Google(config))
        else:
            found.append(ApiEngine(config, profile.name, pace))
    return found, absent


def _open_live_world(
    config: Config, most: Policy, pace: HostRateLimiter, take_page: Callable[[int], str]
) -> World:
    engines, absent = build_engines(config, pace)
    connections = Connections(config.FETCH_ALLOW)
    # The address of an engine that is on, which tells whether there is a network: the operator's own
    # search server, else DuckDuckGo, else another; "" for none
    addresses = {engine.name: engine.url for engine in engines if isinstance(engine, ApiEngine)}
    if any(engine.name == "duckduckgo" for engine in engines):
        addresses.setdefault("searxng", config.DDG_ENDPOINT or "https://html.duckduckgo.com/")
    chosen = addresses.get("searxng") or next(iter(addresses.values()), "")
    return World(
        "live",
        "The live web",
        live=True,
        engines=engines,
        fetcher=Fetcher(connections.exchange, connections.guard, pace, most),
        absent=absent,
        probe=partial(_probe_network, chosen.replace("{language}", "en"), config.FETCH_ALLOW),
        unpaywall=Unpaywall(config, pace),
        take_page=take_page,
        close=connections.close,
    )


def _probe_network(url: str, allow: Sequence[str]) -> None:
    """Connect and close, where there is an address: it may be on the operator's own network."""
    if not url:
        return
    target = urlsplit(url)
    host = target.hostname or ""
    port = target.port or (HTTP_PORT if target.scheme == "http" else HTTPS_PORT)
    SsrfGuard([host, *allow]).connect(host, port, Deadline(PROBE_SECONDS)).close()
