"""Everything a step may use: world, model, pages, clock; and the checks that interrupt it.

Before every step, model call and fetch `checkpoint` checks the stop flag, the lease and the budget. It
raises a Signal; the loop decides what that means for the run."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from agent.engine.side_by_side import SideBySide, WebRequest, WebResult, finish_all
from agent.errors import BudgetSpent, OutOfBudget, ShutdownRequested, Signal, StopRequested
from agent.library.collection import Library
from agent.llm.model import ASSUMED_TOKENS, find_reply_room, measure_prompt
from agent.llm.structured_call import CallContext, add_schema, request_structured
from agent.roles.prompt_templates import make_mark, read_constant_part, render_filling
from agent.roles.role import Check, Role, RoleResult
from agent.store.database import Store
from agent.store.ledger import LEASE_S, Lease, utc_timestamp
from agent.text.urls import canonicalize
from agent.types import ModelCall, Outcome, Page, SearchResult, Sentence, Settings
from agent.types.batches import meter_usage
from agent.web import search_results
from agent.web.rate_limit import HostRateLimiter
from agent.web.unpaywall import OpenCopy
from agent.web.world import World

T = TypeVar("T")
MAX_PARALLEL_JUDGEMENTS = 6
"""Model calls of one run at the same time: what a local server can queue and a hosted one allows."""
MAX_PARALLEL_FETCHES = 32
"""Parallel fetches of one run, over all hosts."""
MAX_CACHED_PAGES = 150
"""Stored pages that a run keeps in memory: those of a site that is read to its limit."""
RESERVED_SHARE, REPORT_SHARE = 0.1, 0.25
"""The share of calls, tokens and money that is reserved for the write-up, and for that of a full report."""

PARENT_BUDGET_CHECK_S = 1.0
"""Seconds between two checks of a batch's budget, besides the one before each model call."""

ReserveUse = Callable[[float, int, float], AbstractContextManager[Callable[[int, float], None]]]


@dataclass(frozen=True)
class WorkLimits:
    """The limits of one workbench; by default there are none but its own settings."""

    places: Any = field(default_factory=nullcontext)
    """A context that a working run holds: a semaphore shared by all workbenches of the process."""
    pace: HostRateLimiter | None = None
    """The limiter of fetches that all workbenches share; None: one for all processes at a PostgreSQL
    database, else one for each live world."""
    queue: Any = None
    """The `QueueDispatcher` of all workbenches of the process; None: each hands out its runs by itself."""
    owner: str = ""
    """The person whose runs these are, as its tickets name them."""
    has_folder_worlds: bool = True
    """May runs read a folder of the server's disk as their web?"""
    max_runs: int = 0
    """Runs that may work at once; 0: as many as WORKERS says."""
    admit_start: Callable[[Store], AbstractContextManager[None]] = field(default=lambda store: nullcontext())
    """What a run is created within; raises UsageError when none may start now."""
    describe_overrun: Callable[[float], str] = field(default=lambda share: "")
    """Which quota is used up to this share, as a sentence; "" for none."""
    reserve: ReserveUse = field(
        default=lambda share, tokens, dollars: nullcontext(lambda tokens, dollars: None)
    )
    """Reserves the most a model call may use up to a share of the quota. Raises BudgetSpent."""
    take_page: Callable[[int], str] = field(default=lambda pages: "")
    """Counts a page to be fetched (-1: it was not); why it may not be, as a sentence."""
    holds_token: Callable[[str], bool] = field(default=lambda token_id: True)
    """Does the token of this id hold?"""


@dataclass
class RunContext:
    """Everything a step of one run may use while a worker drives the run."""

    settings: Settings
    world: World
    store: Store
    lease: Lease
    client: Any
    """The model's client; None without one."""
    model_failure: str
    """Why there is no model although one is configured."""
    find_model: Callable[[Settings], tuple[Any, str, str] | None]
    """Gives the two above for a step with these settings, and their `served_by`; None: they stay."""
    on_model_down: Callable[[str], None] | None
    """Told why the run rests until its model answers; None: it pauses, because nobody would try again."""
    shutdown_event: threading.Event
    step_gap_s: float
    """Pause between two steps in seconds."""
    library: Library
    """The library; one for all runs of a store."""
    find_parent_overrun: Callable[[float], BudgetSpent | None]
    """The quota of the person, or the budget of the batch, when this share of it is used."""
    reserve_use: ReserveUse
    """Reserves what a model call may use of the person's quota."""
    show_checked: Callable[[Sequence[Sentence]], object] = len
    """Told the sentences of an answer that are checked, while the rest of it is written."""
    has_other_model: bool = False
    """Whether the model is not what the run had: it rests until a person chooses."""
    step: int = 0
    """The number of the current step."""
    earlier_steps: Sequence[int] = ()
    """Numbers under which the step was begun before: its model calls of then are not paid again."""
    spent_s: float = 0.0
    """Working seconds of the round before this step."""
    recorded_at: str = ""
    """When the last step was recorded (ISO 8601)."""
    round_start: int = -1
    """The step before the round: caps count from there."""
    is_writing_up: bool = False
    """True while the answer is written: the budget no longer stops the run."""
    deadline: float = math.inf
    """When the run must end, on the monotonic clock."""
    _pages: dict[str, Page] = field(default_factory=dict)
    _step_started: float = field(default_factory=time.monotonic)
    _lease_renewed: float = field(default_factory=time.monotonic)
    _parent_budget_checked: float = -math.inf

    def begin_step(self, step: int, *, spent_s: float, closing_up: bool, earlier: Sequence[int] = ()) -> None:
        """Start a step. `earlier`: numbers under which it was begun before a person's step came between."""
        self.step, self.earlier_steps, self.spent_s = step, earlier, spent_s
        if found := self.find_model(self.settings):
            self.client, self.model_failure, served_by = found
            known = self.settings.served_by or served_by
            self.has_other_model = served_by != known and self.settings.model != "keyless"
            if known != self.settings.served_by:
                self.settings = self.settings.replace(served_by=known)
                self.store.ledger.set_settings(self.lease, self.settings, head=step - 1)
        self.is_writing_up, self._step_started = closing_up, time.monotonic()

    def checkpoint(self) -> None:
        """Raise what `check_interrupts` raises, or BudgetSpent for the quota of the person or the batch."""
        self.check_interrupts()
        if not self.is_writing_up and time.monotonic() - self._parent_budget_checked > PARENT_BUDGET_CHECK_S:
            self._parent_budget_checked = time.monotonic()
            if over := self.find_parent_overrun(1.0 - RESERVED_SHARE):
                raise over

    def check_interrupts(self) -> None:
        """Raise ShutdownRequested, StopRequested, LeaseLost or BudgetSpent (time), or renew the lease. A
        model call under way is given up for nothing else: its use is reserved, and would be paid in vain."""
        if self.shutdown_event.is_set():
            raise ShutdownRequested("this process is ending; the run goes on when the next one starts")
        if self.store.ledger.control(self.lease.run_id) == "stop":
            raise StopRequested("a person stopped the run")
        self._keep_lease()
        if time.monotonic() > self.deadline:
            raise BudgetSpent("the time for this request is over")
        worked, cap = self.spent_s + time.monotonic() - self._step_started, self.settings.max_seconds
        if not self.is_writing_up and worked > cap:
            raise BudgetSpent(
                f"the working time of {cap:g} s is used up", cap="seconds", used=worked, limit=cap
            )

    def wait_step_gap(self) -> None:
        """Pause between two steps; a control flag or the end of the process interrupts the pause."""
        until = time.monotonic() + self.step_gap_s
        while (left := until - time.monotonic()) > 0 and not self.store.ledger.control(self.lease.run_id):
            self._keep_lease()
            if self.shutdown_event.wait(min(left, 0.1)):
                return

    def today(self) -> str:
        """Today, ISO 8601: the world's own day where it has one, else the clock's."""
        return str(getattr(self.world, "today", "")) or utc_timestamp()[:10]

    def look_up(self, requests: Sequence[WebRequest]) -> tuple[list[WebResult | None], Signal | None]:
        """Search and fetch side by side, within the run's source filter and each host's rate limit; a failure
        is the outcome of its result. A Signal in the middle comes back beside the results so far."""
        self.checkpoint()
        return self.side_by_side.run(requests, self.checkpoint)

    def search(self, engine: str, query: str) -> SearchResult:
        """One search, as in `look_up`."""
        results, _ = self.look_up([WebRequest(query, engine)])
        return cast("SearchResult", results[0])

    @cached_property
    def side_by_side(self) -> SideBySide:
        """The searches and fetches of this run, those begun ahead of need among them."""
        return SideBySide(send=self._send, is_live=self.world.live, keep=self._keep_page)

    def _send(self, request: WebRequest, check: Callable[[], None]) -> WebResult:
        reach = self.settings
        if request.engine:
            found = self.world.search(request.engine, request.target, checkpoint=check, reach=reach)
            return search_results.filter_hits(found, reach)
        if self.world.live and self.recorded_at:  # fetched by a process that was killed in this round
            known = self.store.pages.find_fetched([request.target]).get(canonicalize(request.target))
            if known and known.fetched_at[:19] >= self.recorded_at[:19]:
                return self.page(known.page_id)
        page = self.world.fetch(request.target, reach=reach, checkpoint=check)
        return search_results.filter_page(page, reach)

    def _keep_page(self, request: WebRequest, result: WebResult) -> None:
        """Store a page of the round under way."""
        if isinstance(result, Page) and result.outcome is Outcome.OK:
            self.store_fetched([(request.target, result)])

    def fetch(self, url: str, *, leading: bool = False) -> Page:
        """Fetch one page within the run's filter; a failure is its outcome. `leading`: see `fetch_many`."""
        return self.fetch_many([url], leading=leading)[0]

    def find_open_copy(self, doi: str) -> OpenCopy:
        """Where a paper may be read without paying."""
        self.checkpoint()
        request = partial(self.world.find_open_copy, doi)
        return finish_all([request], self.checkpoint, 1, is_waiting=self.world.live)[0]

    def fetch_many(
        self, urls: Sequence[str], *, known: Mapping[str, Page] | None = None, leading: bool = False
    ) -> list[Page]:
        """Fetch pages in parallel, within the run's source filter and the rate limit of each host; returns
        them in the order of `urls`.

        `known` holds pages that were fetched before: their servers are asked only for what changed. `leading`
        pages only list other pages (sitemaps), so the filter's date and language do not apply to them. A
        Signal abandons all fetches."""
        reach = self.settings

        def fetch_one(url: str, check: Callable[[], None]) -> Page:
            page = self.world.fetch(url, reach=reach, checkpoint=check, known=(known or {}).get(url))
            return page if leading else search_results.filter_page(page, reach)

        self.checkpoint()
        works = [partial(fetch_one, url) for url in urls]
        return finish_all(works, self.checkpoint, MAX_PARALLEL_FETCHES, is_waiting=self.world.live)

    def store_page(self, page: Page) -> str:
        """Store a page; returns its id. The library indexes it, if it is of this store."""
        return self.store.pages.put(page, shelve=self.library.store is self.store)

    def store_fetched(self, fetched: Sequence[tuple[str, Page]]) -> list[str]:
        """Store pages with the address each was fetched for; returns their ids. Those of the live web are
        known to later runs by their addresses."""
        if not self.world.live:
            return [self.store_page(page) for _, page in fetched]
        return self.store.pages.put_fetched(fetched, shelve=self.library.store is self.store)

    def page(self, page_id: str, *, raw: bool = False) -> Page:
        """A stored page, with its raw body on request. The last ones are kept in memory: none changes."""
        if raw:
            return self.store.pages.get(page_id, raw=True)
        if page_id not in self._pages:
            if len(self._pages) >= MAX_CACHED_PAGES:
                self._pages.pop(next(iter(self._pages)))
            self._pages[page_id] = self.store.pages.get(page_id)
        return self._pages[page_id]

    @property
    def has_model(self) -> bool:
        """Whether a model can be asked; without one a flow shows passages, or says that it needs one."""
        return self.client is not None

    def judge(self, role: Role, *, check: Check | None = None, **blanks: Any) -> RoleResult:
        """Ask a role's model; without one, and when the budget for the write-up is used up, the reply has no
        values and the result says why. `check`: see `Role.judge`."""
        self.checkpoint()
        if self.client:
            mark = make_mark(self.lease.run_id)
            filling = partial(render_filling, role.name, mark, **blanks)
            return role.judge(
                partial(self._call_model, filling=filling),
                mark=mark,
                check=check,
                fits=lambda messages, shape, tier: (
                    measure_prompt(add_schema(messages, shape))
                    + find_reply_room(self.client.context_length(tier))
                    <= self.client.context_length(tier)
                ),
                **blanks,
            )
        result = role.judge(None, **blanks)
        return result.replace(failure=self.model_failure)

    def find_room(self, role: Role) -> int:
        """Tokens that a prompt of this role may have beside its constant part and the room for a reply."""
        fixed = add_schema([{"role": "system", "content": read_constant_part(role.name)}], role.reply)
        context = self.client.context_length(role.tier) if self.client else ASSUMED_TOKENS
        return max(0, context - find_reply_room(context) - measure_prompt(fixed))

    def judge_side_by_side(self, judgements: Sequence[Callable[[], T]]) -> list[T]:
        """The results of several judgements that are asked at the same time, in order. A Signal abandons
        them; replies that had come are recorded and recalled when the step is taken again."""
        works = [lambda _check, judge=judge: judge() for judge in judgements]
        return finish_all(works, self.check_interrupts, MAX_PARALLEL_JUDGEMENTS, is_waiting=self.has_model)

    def find_spent_budget(self) -> BudgetSpent | None:
        """Which cap on calls, tokens or money is reached; None for none. RESERVED_SHARE is reserved for the
        write-up, and at least one call where a person is asked at a cap."""
        spent, caps = self.store.calls.sum_usage(self.lease.run_id, self.round_start), self.settings
        share = self._open_share
        if over := self.find_parent_overrun(share):
            return over
        reserve = 1 if caps.at_cap == "ask" and not self.is_writing_up and caps.max_calls > 1 else 0
        for meter in meter_usage(spent, caps):
            limit = meter.cap * share
            if meter.name == "calls":
                limit = min(limit, meter.cap - reserve)
            is_set = limit > 0 or meter.name != "cost"  # a price limit of 0 is none
            if is_set and meter.used is not None and meter.used >= limit:
                return BudgetSpent(meter.description, cap=meter.name, used=meter.used, limit=meter.cap)
        return None

    @property
    def _open_share(self) -> float:
        """The share of each budget that is open to the run now."""
        reserved = REPORT_SHARE if self.settings.report == "full" else RESERVED_SHARE
        return 1.0 if self.is_writing_up else 1.0 - reserved

    def _keep_lease(self) -> None:
        if time.monotonic() - self._lease_renewed > LEASE_S / 4:
            self.store.ledger.renew(self.lease)
            self._lease_renewed = time.monotonic()

    def _call_model(
        self,
        role: str,
        messages: list[dict[str, str]],
        shape: type[BaseModel],
        tier: str,
        *,
        filling: Callable[[], str],
    ) -> BaseModel:
        call = CallContext(
            run_id=self.lease.run_id,
            step=self.step,
            role=role,
            recall=self._recall_call,
            record=self.store.calls.record,
            checkpoint=self.check_interrupts,
            earlier_steps=self.earlier_steps,
            recall_earlier=self.store.calls.recall,
            reserve=partial(self.reserve_use, self._open_share),
            filling=filling,
        )
        try:
            return request_structured(self.client, call, messages, shape, tier=tier)  # type: ignore[arg-type]
        except BudgetSpent as over:  # a call beside this one has reserved the rest of the quota
            if self.is_writing_up and over.cap == "quota":
                raise OutOfBudget(str(over)) from over
            raise

    def _recall_call(self, key: str) -> ModelCall | None:
        """The call of this key if it was made before; else check the budget. Raises BudgetSpent, and during
        the write-up OutOfBudget."""
        made = self.store.calls.recall(key)
        if made is None and (over := self.find_spent_budget()):
            raise OutOfBudget(str(over)) if self.is_writing_up else over
        return made
