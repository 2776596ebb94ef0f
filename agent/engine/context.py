"""What a step may use: the world, the model, the stored pages, the clock; and the one place that says "not
now".

Before every step, model call and fetch `checkpoint` looks at the stop flag, the lease and the budget. It
raises a Signal and nothing else; the loop decides what a Signal means."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from agent.errors import BudgetSpent, ModelUnavailable, ShutdownRequested, StopRequested
from agent.evidence.source_trust import SourceTrust, assess_trust
from agent.library.collection import Library
from agent.llm.structured_call import CallContext, request_structured
from agent.roles.role import Role, RoleResult
from agent.store.database import Store
from agent.store.ledger import LEASE_S, Lease, utc_timestamp
from agent.text.urls import site
from agent.types import ModelCall, Page, SearchResult, Settings, SourceFilter, Step, TrustRating
from agent.types.budget import meter_usage
from agent.web import apply_source_filter

T = TypeVar("T")
MAX_PARALLEL_FETCHES = 32
"""Pages of one run that are asked for at the same time, over all hosts."""
RESERVED_SHARE = 0.1
"""The share of the calls, tokens and money that only the report may use: what was found can always be written
up."""

PARENT_BUDGET_CHECK_S = 1.0
"""Seconds between two looks at the budget of what a run belongs to, besides the one before each model
call."""


class World(Protocol):
    """What the toolbox needs of a world (see agent.web.world)."""

    live: bool
    engines: dict[str, str]
    absent: dict[str, str]

    def search(
        self,
        engine: str,
        query: str,
        *,
        max_results: int = 10,
        checkpoint: Callable[[], None] = ...,
        reach: SourceFilter = ...,
    ) -> SearchResult: ...
    def fetch(
        self,
        url: str,
        *,
        reach: SourceFilter = ...,
        checkpoint: Callable[[], None] = ...,
        skimmed: bool = False,
    ) -> Page: ...


@dataclass
class RunContext:
    """The hands of one run while one worker drives it."""

    settings: Settings
    world: World
    store: Store
    lease: Lease
    client: Any = None
    """The model's client, or None: every role speaks keyless."""
    fallback_reason: str = ""
    """Why there is no model although one was asked for."""
    shutdown_event: threading.Event = field(default_factory=threading.Event)
    step_gap_s: float = 0.0
    """Seconds to rest between two steps."""
    step: int = 0
    """The number of the step being worked on."""
    earlier_steps: Sequence[int] = ()
    """The numbers it may have had before, when it was begun and not ended: its calls of then are not paid for
    again."""
    spent_s: float = 0.0
    """Working seconds of the run before this step."""
    library: Library = field(default=None)  # type: ignore[assignment]
    """All pages any flow has read and the documents people added; one for all runs of a store."""
    round_start: int = -1
    """The step the round began after: caps on time, calls, tokens and money count anew when a person sends an
    answer back."""
    is_writing_up: bool = False
    """True while the run is being written up: the budget no longer stops it."""
    deadline: float = math.inf
    """When the run must have ended, on the monotonic clock: whoever asked does not wait longer."""
    describe_parent_overrun: Callable[[float], str] = field(default=lambda share: "")
    """Is the budget of what the run belongs to (a batch) used up to this share? A sentence, or "" for no."""
    _step_started: float = field(default_factory=time.monotonic)
    _lease_renewed: float = field(default_factory=time.monotonic)
    _parent_budget_checked: float = -math.inf

    def begin_step(self, step: int, *, spent_s: float, closing_up: bool, earlier: Sequence[int] = ()) -> None:
        """A new step starts. `earlier`: the numbers under which it may have been begun before a person
        spoke."""
        self.earlier_steps = earlier
        self.step, self.spent_s, self.is_writing_up, self._step_started = (
            step,
            spent_s,
            closing_up,
            time.monotonic(),
        )

    def checkpoint(self) -> None:
        """Raises ShuttingDown, Stopped, LeaseLost or BudgetSpent (time); otherwise keeps the lease alive."""
        if self.shutdown_event.is_set():
            raise ShutdownRequested("this process is ending; the run goes on when the next one starts")
        if self.store.ledger.control(self.lease.run_id) == "stop":
            raise StopRequested("a person stopped the run")
        self._keep_lease()
        if time.monotonic() > self.deadline:
            raise BudgetSpent("the time for this request is over")
        worked = self.spent_s + time.monotonic() - self._step_started
        if not self.is_writing_up and worked > self.settings.max_seconds:
            cap = self.settings.max_seconds
            raise BudgetSpent(
                f"the working time of {cap:g} s is used up", cap="seconds", used=worked, limit=cap
            )
        if not self.is_writing_up and time.monotonic() - self._parent_budget_checked > PARENT_BUDGET_CHECK_S:
            self._parent_budget_checked = time.monotonic()
            if over := self.describe_parent_overrun(1.0 - RESERVED_SHARE):
                raise BudgetSpent(over)

    def wait_step_gap(self) -> None:
        """The pause between two steps, ended at once when a person or the process wants something."""
        until = time.monotonic() + self.step_gap_s
        while (left := until - time.monotonic()) > 0 and not self.store.ledger.control(self.lease.run_id):
            self._keep_lease()
            if self.shutdown_event.wait(min(left, 0.1)):
                return

    def now(self) -> str:
        """The time, ISO 8601 in UTC."""
        return utc_timestamp()

    def today(self) -> str:
        """The day that "last week" counts from, ISO 8601: the world's own where its pages were written for
        one, else the clock's."""
        return str(getattr(self.world, "today", "")) or self.now()[:10]

    def search(self, engine: str, query: str) -> SearchResult:
        """One search, of the sources the run may use; what goes wrong in the world is its outcome."""
        self.checkpoint()
        reach = self.settings.source_filter
        return apply_source_filter.filter_hits(
            self._run_interruptibly(
                lambda check: self.world.search(engine, query, checkpoint=check, reach=reach)
            ),
            reach,
        )

    def fetch(self, url: str, *, leading: bool = False) -> Page:
        """One page of the sources the run may use; what goes wrong in the world is its outcome. `leading`:
        see `fetch_many`."""
        self.checkpoint()
        reach = self.settings.source_filter
        page = self._run_interruptibly(lambda check: self.world.fetch(url, reach=reach, checkpoint=check))
        return page if leading else apply_source_filter.filter_page(page, reach)

    def fetch_many(self, urls: Sequence[str], *, skimmed: bool = False, leading: bool = False) -> list[Page]:
        """Pages side by side, in the order asked for, of the sources the run may use; each host is asked as
        politely as by one.

        `skimmed` reads them at a glance only (see agent.web.extract.fast_extract); `leading` ones only tell
        where to look (sitemaps, lists of entries): their own date and language do not matter. A Signal lets
        go of all of them at once."""
        reach = self.settings.source_filter
        at_a_glance = skimmed and not reach.needs_page

        def fetch_one(url: str, check: Callable[[], None]) -> Page:
            page = self.world.fetch(url, reach=reach, checkpoint=check, skimmed=at_a_glance)
            return page if leading else apply_source_filter.filter_page(page, reach)

        self.checkpoint()
        if not self.world.live:
            return [fetch_one(url, self.checkpoint) for url in urls]
        return self._run_in_parallel(list(urls), fetch_one)

    def store_page(self, page: Page) -> str:
        """Store a page's text; returns its id. One that another library lent is not put on this store's
        shelf."""
        return self.store.pages.put(page, shelve=self.library is None or self.library.store is self.store)

    def assess_trust(self, page: Page, here: Mapping[str, TrustRating] | None = None) -> SourceTrust:
        """How far a page is trusted: by a person's word on its domain in this run (`here`) or for every run,
        else by its signs."""
        domain = site(page.final_url or page.url)
        return assess_trust(page, (here or {}).get(domain) or self.store.trust_ratings.get(domain))

    def page(self, page_id: str, *, raw: bool = False) -> Page:
        """A stored page, with its body as it came only when asked."""
        return self.store.pages.get(page_id, raw=raw)

    def steps(self, run_id: str) -> list[Step]:
        """The steps of another run of the conversation, to take over what it read."""
        return self.store.ledger.steps(run_id)

    def judge(self, role: Role, **blanks: Any) -> RoleResult:
        """Ask a role: the model when there is one and the budget allows it, else keyless; the judgement says
        who spoke and why."""
        self.checkpoint()
        judgement = role.judge(self._call_model if self.client else None, **blanks)
        return (
            judgement
            if self.client
            else judgement.model_copy(update={"fallback_reason": self.fallback_reason})
        )

    def find_spent_budget(self) -> BudgetSpent | None:
        """Which cap on calls, tokens or money is reached; None for none. RESERVED_SHARE is reserved for the
        write-up, and at least one call where a person is asked at a cap."""
        spent, caps = self.store.calls.sum_usage(self.lease.run_id, self.round_start), self.settings
        share = 1.0 if self.is_writing_up else 1.0 - RESERVED_SHARE
        if over := self.describe_parent_overrun(share):
            return BudgetSpent(over)
        reserve = 1 if caps.at_cap == "ask" and not self.is_writing_up and caps.max_calls > 1 else 0
        for meter in meter_usage(spent, caps):
            limit = meter.cap * share
            if meter.name == "calls":
                limit = min(limit, meter.cap - reserve)
            is_set = limit > 0 or meter.name != "cost"  # a price limit of 0 is none
            if is_set and meter.used is not None and meter.used >= limit:
                return BudgetSpent(meter.description, cap=meter.name, used=meter.used, limit=meter.cap)
        return None

    def _keep_lease(self) -> None:
        if time.monotonic() - self._lease_renewed > LEASE_S / 4:
            self.store.ledger.renew(self.lease)
            self._lease_renewed = time.monotonic()

    def _call_model(
        self, role: str, messages: list[dict[str, str]], shape: type[BaseModel], tier: str
    ) -> BaseModel:
        ticket = CallContext(
            run_id=self.lease.run_id,
            step=self.step,
            role=role,
            recall=self._recall_call,
            record=self.store.calls.record,
            checkpoint=self.checkpoint,
            earlier_steps=self.earlier_steps,
            recall_earlier=self.store.calls.recall,
        )
        return request_structured(self.client, ticket, messages, shape, tier=tier)  # type: ignore[arg-type]

    def _recall_call(self, key: str) -> ModelCall | None:
        """The call of this key if it was made before; else one is about to be paid for, and the budget is
        looked at.

        Raises BudgetSpent; while the run is written up ModelUnavailable, so that the role speaks keyless and
        says why."""
        made = self.store.calls.recall(key)
        if made is None and (over := self.find_spent_budget()):
            raise ModelUnavailable(str(over)) if self.is_writing_up else over
        return made

    def _run_in_parallel(self, urls: list[str], look: Callable[[str, Callable[[], None]], T]) -> list[T]:
        """Look at all addresses in at most SIDE_BY_SIDE threads; this one waits, and looks at the stop flag
        meanwhile."""
        found: dict[int, T] = {}
        failed: list[BaseException] = []
        abandoned = threading.Event()
        waiting = iter(range(len(urls)))
        lock = threading.Lock()

        def check() -> None:
            if abandoned.is_set():
                raise StopRequested("nobody waits for this any more")

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

        threads = [
            threading.Thread(target=work, name=f"look-{self.lease.run_id}-{n}", daemon=True)
            for n in range(min(MAX_PARALLEL_FETCHES, len(urls)))
        ]
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

    def _run_interruptibly(self, look: Callable[[Callable[[], None]], T]) -> T:
        """Run a look at the live web in a thread of its own, so that Stop works at once even while a
        connection hangs.

        An abandoned look ends by its own deadline; what it brings is thrown away. A folder world answers at
        once and is called directly."""
        if not self.world.live:
            return look(self.checkpoint)
        return self._run_in_parallel([""], lambda _, check: look(check))[0]
