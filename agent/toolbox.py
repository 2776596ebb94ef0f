"""What a step may use: the world, the model, the stored pages, the clock; and the one place that says "not now".

Before every step, model call and fetch `checkpoint` looks at the stop flag, the lease and the budget. It raises a Signal and
nothing else; the loop decides what a Signal means.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from agent.errors import BudgetSpent, ModelUnavailable, ShuttingDown, Stopped
from agent.evidence.trust import Trust, of_page
from agent.holdings import Library
from agent.llm.ask import Ticket, ask
from agent.roles.role import Judgement, Role
from agent.store.database import Store
from agent.store.ledger import LEASE_S, Lease, now
from agent.tools import choosing
from agent.types import Call, Page, Reach, SearchResult, Settings, Step, Trusted
from agent.urls import site

T = TypeVar("T")
SIDE_BY_SIDE = 32
"""Pages of one run that are asked for at the same time, over all hosts."""
KEPT_BACK = 0.1
"""The share of the calls, tokens and money that only the report may use: what was found can always be written up."""

WIDER_S = 1.0
"""Seconds between two looks at the budget of what a run belongs to, besides the one before each model call."""


class WorldLike(Protocol):
    """What the toolbox needs of a world (see agent.tools.worlds)."""

    live: bool
    engines: dict[str, str]
    absent: dict[str, str]

    def search(
        self, engine: str, query: str, *, max_results: int = 10, checkpoint: Callable[[], None] = ..., reach: Reach = ...
    ) -> SearchResult: ...
    def fetch(self, url: str, *, reach: Reach = ..., checkpoint: Callable[[], None] = ..., skimmed: bool = False) -> Page: ...


@dataclass
class Tools:
    """The hands of one run while one worker drives it."""

    settings: Settings
    world: WorldLike
    store: Store
    lease: Lease
    client: Any = None
    """The model's client, or None: every role speaks keyless."""
    trouble: str = ""
    """Why there is no model although one was asked for."""
    closing: threading.Event = field(default_factory=threading.Event)
    gap_s: float = 0.0
    """Seconds to rest between two steps."""
    step: int = 0
    """The number of the step being worked on."""
    earlier: Sequence[int] = ()
    """The numbers it may have had before, when it was begun and not ended: its calls of then are not paid for again."""
    spent_s: float = 0.0
    """Working seconds of the run before this step."""
    holdings: Library = field(default=None)  # type: ignore[assignment]
    """All pages any flow has read and the documents people added; one for all runs of a store."""
    since: int = -1
    """The step the round began after: caps on time, calls, tokens and money count anew when a person sends an answer back."""
    closing_up: bool = False
    """True while the run is being written up: the budget no longer stops it."""
    until: float = math.inf
    """When the run must have ended, on the monotonic clock: whoever asked does not wait longer."""
    wider: Callable[[float], str] = field(default=lambda share: "")
    """Is the budget of what the run belongs to (a batch) used up to this share? A sentence, or "" for no."""
    _began: float = field(default_factory=time.monotonic)
    _renewed: float = field(default_factory=time.monotonic)
    _looked: float = -math.inf

    def begin(self, step: int, *, spent_s: float, closing_up: bool, earlier: Sequence[int] = ()) -> None:
        """A new step starts. `earlier`: the numbers under which it may have been begun before a person spoke."""
        self.earlier = earlier
        self.step, self.spent_s, self.closing_up, self._began = step, spent_s, closing_up, time.monotonic()

    def checkpoint(self) -> None:
        """Raises ShuttingDown, Stopped, LeaseLost or BudgetSpent (time); otherwise keeps the lease alive."""
        if self.closing.is_set():
            raise ShuttingDown("this process is ending; the run goes on when the next one starts")
        if self.store.ledger.control(self.lease.run_id) == "stop":
            raise Stopped("a person stopped the run")
        self._hold()
        if time.monotonic() > self.until:
            raise BudgetSpent("the time for this request is over")
        worked = self.spent_s + time.monotonic() - self._began
        if not self.closing_up and worked > self.settings.max_seconds:
            cap = self.settings.max_seconds
            raise BudgetSpent(f"the working time of {cap:g} s is used up", cap="seconds", used=worked, limit=cap)
        if not self.closing_up and time.monotonic() - self._looked > WIDER_S:
            self._looked = time.monotonic()
            if over := self.wider(1.0 - KEPT_BACK):
                raise BudgetSpent(over)

    def rest(self) -> None:
        """The pause between two steps, ended at once when a person or the process wants something."""
        until = time.monotonic() + self.gap_s
        while (left := until - time.monotonic()) > 0 and not self.store.ledger.control(self.lease.run_id):
            self._hold()
            if self.closing.wait(min(left, 0.1)):
                return

    def now(self) -> str:
        """The time, ISO 8601 in UTC."""
        return now()

    def today(self) -> str:
        """The day that "last week" counts from, ISO 8601: the world's own where its pages were written for one, else the clock's."""
        return str(getattr(self.world, "today", "")) or self.now()[:10]

    def search(self, engine: str, query: str) -> SearchResult:
        """One search, of the sources the run may use; what goes wrong in the world is its outcome."""
        self.checkpoint()
        reach = self.settings.reach
        return choosing.hits(self._waited(lambda check: self.world.search(engine, query, checkpoint=check, reach=reach)), reach)

    def fetch(self, url: str, *, leading: bool = False) -> Page:
        """One page of the sources the run may use; what goes wrong in the world is its outcome. `leading`: see `fetch_many`."""
        self.checkpoint()
        reach = self.settings.reach
        page = self._waited(lambda check: self.world.fetch(url, reach=reach, checkpoint=check))
        return page if leading else choosing.page(page, reach)

    def fetch_many(self, urls: Sequence[str], *, skimmed: bool = False, leading: bool = False) -> list[Page]:
        """Pages side by side, in the order asked for, of the sources the run may use; each host is asked as politely as by one.

        `skimmed` reads them at a glance only (see agent.tools.skim); `leading` ones only tell where to look (sitemaps, lists of entries):
        their own date and language do not matter. A Signal lets go of all of them at once.
        """
        reach = self.settings.reach
        at_a_glance = skimmed and not reach.choosy

        def look(url: str, check: Callable[[], None]) -> Page:
            page = self.world.fetch(url, reach=reach, checkpoint=check, skimmed=at_a_glance)
            return page if leading else choosing.page(page, reach)

        self.checkpoint()
        if not self.world.live:
            return [look(url, self.checkpoint) for url in urls]
        return self._side_by_side(list(urls), look)

    def keep(self, page: Page) -> str:
        """Store a page's text; returns its id. One that another library lent is not put on this store's shelf."""
        return self.store.pages.put(page, shelve=self.holdings is None or self.holdings.store is self.store)

    def trust(self, page: Page, here: Mapping[str, Trusted] | None = None) -> Trust:
        """How far a page is trusted: by a person's word on its domain in this run (`here`) or for every run, else by its signs."""
        domain = site(page.final_url or page.url)
        return of_page(page, (here or {}).get(domain) or self.store.trusts.get(domain))

    def page(self, page_id: str, *, raw: bool = False) -> Page:
        """A stored page, with its body as it came only when asked."""
        return self.store.pages.get(page_id, raw=raw)

    def steps(self, run_id: str) -> list[Step]:
        """The steps of another run of the conversation, to take over what it read."""
        return self.store.ledger.steps(run_id)

    def judge(self, role: Role, **blanks: Any) -> Judgement:
        """Ask a role: the model when there is one and the budget allows it, else keyless; the judgement says who spoke and why."""
        self.checkpoint()
        judgement = role.judge(self._model if self.client else None, **blanks)
        return judgement if self.client else judgement.model_copy(update={"trouble": self.trouble})

    def over_budget(self) -> BudgetSpent | None:
        """Which cap on calls, tokens or money is reached; None for none. A tenth is kept back for the report, of calls at least
        one where a person is asked: "write it now" must be paid for."""
        spent, caps = self.store.calls.spent(self.lease.run_id, self.since), self.settings
        share = 1.0 if self.closing_up else 1.0 - KEPT_BACK
        if over := self.wider(share):
            return BudgetSpent(over)
        calls, tokens, cost = spent.llm_calls, spent.prompt_tokens + spent.completion_tokens, spent.cost_usd
        kept = 1 if caps.at_cap == "ask" and not self.closing_up and caps.max_calls > 1 else 0
        if calls >= min(caps.max_calls * share, caps.max_calls - kept):
            return BudgetSpent(f"{calls} of {caps.max_calls} model calls are used", cap="calls", used=calls, limit=caps.max_calls)
        if tokens >= caps.max_tokens * share:
            return BudgetSpent(f"{tokens:,} of {caps.max_tokens:,} tokens are used", cap="tokens", used=tokens, limit=caps.max_tokens)
        if cost is not None and cost >= caps.max_cost_usd * share > 0:
            return BudgetSpent(f"${cost:.2f} of ${caps.max_cost_usd:.2f} is spent", cap="cost", used=cost, limit=caps.max_cost_usd)
        return None

    def _hold(self) -> None:
        if time.monotonic() - self._renewed > LEASE_S / 4:
            self.store.ledger.renew(self.lease)
            self._renewed = time.monotonic()

    def _model(self, role: str, messages: list[dict[str, str]], shape: type[BaseModel], tier: str) -> BaseModel:
        ticket = Ticket(
            run_id=self.lease.run_id, step=self.step, role=role,
            recall=self._recall, record=self.store.calls.record, checkpoint=self.checkpoint, earlier=self.earlier, kept=self.store.calls.recall,
        )  # fmt: skip
        return ask(self.client, ticket, messages, shape, tier=tier)  # type: ignore[arg-type]

    def _recall(self, key: str) -> Call | None:
        """The call of this key if it was made before; else one is about to be paid for, and the budget is looked at.

        Raises BudgetSpent; while the run is written up ModelUnavailable, so that the role speaks keyless and says why.
        """
        made = self.store.calls.recall(key)
        if made is None and (over := self.over_budget()):
            raise ModelUnavailable(str(over)) if self.closing_up else over
        return made

    def _side_by_side(self, urls: list[str], look: Callable[[str, Callable[[], None]], T]) -> list[T]:
        """Look at all addresses in at most SIDE_BY_SIDE threads; this one waits, and looks at the stop flag meanwhile."""
        found: dict[int, T] = {}
        failed: list[BaseException] = []
        abandoned = threading.Event()
        waiting = iter(range(len(urls)))
        lock = threading.Lock()

        def check() -> None:
            if abandoned.is_set():
                raise Stopped("nobody waits for this any more")

        def work() -> None:
            try:
                while not failed:
                    with lock:
                        i = next(waiting, None)
                    if i is None:
                        return
                    found[i] = look(urls[i], check)
            except BaseException as trouble:  # noqa: BLE001 - handed to the waiting thread below
                failed.append(trouble)

        threads = [threading.Thread(target=work, name=f"look-{self.lease.run_id}-{n}", daemon=True) for n in range(min(SIDE_BY_SIDE, len(urls)))]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.1)
                    self.checkpoint()
        except BaseException:
            abandoned.set()
            raise
        if failed:
            raise failed[0]
        return [found[i] for i in range(len(urls))]

    def _waited(self, look: Callable[[Callable[[], None]], T]) -> T:
        """Run a look at the live web in a thread of its own, so that Stop works at once even while a connection hangs.

        An abandoned look ends by its own deadline; what it brings is thrown away. A folder world answers at once and is
        called directly.
        """
        if not self.world.live:
            return look(self.checkpoint)
        return self._side_by_side([""], lambda _, check: look(check))[0]
