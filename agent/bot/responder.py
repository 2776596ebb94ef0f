"""`reply` as a service for bots, the command line and the screens: a conversation in, a reply or silence out.

    ReplyService(workbench).generate_reply(Conversation(messages=[...]), RequestContext(channel="help"))

Each request is a run, never resumed. With `store_conversations` it is stored for audit; else it lives in
memory while the reply is made, and no text of the conversation is written. Any failure means silence, one log
line and one count; nothing raises. Between requests only connections are kept."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from agent import errors
from agent.bot import metrics
from agent.bot.summary_worker import SummaryWorker
from agent.engine.context import RunContext
from agent.engine.loop import drive
from agent.engine.state import to_jsonable
from agent.errors import BudgetSpent, NotFound, TouchstoneError, UsageError
from agent.export.escaping import to_one_line
from agent.flows import FLOWS
from agent.flows.reply.state import ReplyRun
from agent.library.collection import Library
from agent.llm.detect import ReplyModel
from agent.llm.images import Image, VisionModel
from agent.settings import reply_config
from agent.settings.reply_config import DEMO_KB, ResponseConfig, find_team_folder
from agent.store.database import Store
from agent.store.ledger import Lease, new_owner_id
from agent.text.urls import FILE_SCHEME
from agent.types import ReplySettings, Run, Settings, Status, Step, Usage
from agent.types.reply import AIResult, Conversation, Picture, RequestContext
from agent.web.image_fetcher import ImageFetcher
from agent.workbench import Workbench

log = logging.getLogger("agent.reply")
SYNC_S = 5.0
"""Seconds between two synchronisations of the knowledge base with its folders."""
MOST_PICTURES, MOST_BYTES = 20, 32_000_000
"""Pictures of one conversation and their bytes in all, which stay in memory until the reply is made."""
MAX_SHOWN_CHARS = 500
"""Characters of a question in the list of runs, and of a reason in the log."""
DEMO_NOTE = "(From the demo knowledge base; everything in it is invented.)"
LATE_REASON = "The reply was finished after its time limit, and was not sent."
FLOW = FLOWS["reply"]


@dataclass(frozen=True)
class ReplyOutcome:
    """A reply and how it was made. Silence is an error with `failed`, else a decision with its `reason`."""

    result: AIResult
    path: tuple[str, ...]
    reason: str
    failed: bool
    run_id: str = ""
    answerable: bool | None = None
    """The gate's decision; None when it was not reached or failed."""
    left_out: tuple[str, ...] = ()
    """Drafted sentences that are not posted: their quotes do not support them, or they are too long."""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class _Request:
    """A request being answered: its run, the owner of its lease, its deadline, its pictures."""

    run_id: str
    owner: str
    until: float
    store: Store
    images: Sequence[Image]


class ReplyService:
    """Answers conversations from a knowledge base. Thread-safe; one a process.

    Without `kb` it answers from the library, synchronised with the folders in `config.yaml`; with `kb` from
    that folder alone, indexed in its own database. `client` replaces the configured model. Raises NotFound
    for a missing folder, UsageError for a wrong `config.yaml`."""

    def __init__(
        self,
        bench: Workbench,
        *,
        kb: Path | None = None,
        response: ResponseConfig | None = None,
        client: Any = None,
    ) -> None:
        self.bench, self.response = bench, response or reply_config.read_response_config(bench.config)
        keys = self.response.ai_response
        if kb and not kb.is_dir():
            raise NotFound(f"there is no folder {kb}: name one that holds the knowledge base")
        self._store = None
        if kb:  # in a file that is named for the folder
            name = hashlib.sha256(str(kb.resolve()).encode()).hexdigest()[:16]
            self._store = Store(f"sqlite:///{bench.config.data_folder / 'kb' / name}.db")
        self.library = (
            Library(self._store, kb_dir=kb, team_dir=find_team_folder(kb)) if self._store else bench.library
        )
        self.demo = self.library.kb_dir is not None and self.library.kb_dir.resolve() == DEMO_KB
        self._pictures = ImageFetcher(
            bench.config,
            timeout_s=keys.image_download_timeout_seconds,
            retries=keys.image_download_max_retries,
            take_page=bench.worker.limits.take_page,
        )
        self._client, self._summary_worker = client, None
        if own := self.response.kb.llm:
            reserve = partial(bench.worker.limits.reserve, 1.0)
            self._summary_worker = SummaryWorker(self.library, ReplyModel(bench.config, own), reserve)
        self._synced_at = -SYNC_S
        self._sync: Future[None] | None = None
        """The newest synchronisation."""
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close what this service opened; the workbench stays open."""
        if self._summary_worker:
            self._summary_worker.close()
        self._pictures.close()
        if self._store:
            self._store.close()

    def generate_reply(self, conversation: Conversation, context: RequestContext | None = None) -> AIResult:
        """The reply to a conversation, or silence. Never raises."""
        return self.reply(conversation, context).result

    def reply(
        self,
        conversation: Conversation,
        context: RequestContext | None = None,
        *,
        model: str = "auto",
        began: float = 0.0,
        hold: bool = False,
    ) -> ReplyOutcome:
        """The reply and how it was made. `began`: when the request arrived, on the monotonic clock; `hold`:
        keep a run that is not stored in memory for a while, to be looked at. Never raises."""
        began, keys = began or time.monotonic(), self.response.reply_settings
        start = partial(self._start_run, conversation, context or RequestContext(), model, began, keys)
        return self._run_safely(began, start, hold=hold)

    def start_reply(
        self,
        conversation: Conversation,
        context: RequestContext | None = None,
        *,
        model: str = "auto",
        include_read_pages: bool | None = None,
    ) -> str:
        """Start a reply in the background; returns the id of its run, which is held for a while after its
        end. `include_read_pages` overrides the setting. Raises TouchstoneError when it cannot be started."""
        began, keys = time.monotonic(), self.response.reply_settings
        if include_read_pages is not None:
            keys = keys.replace(include_read_pages=include_read_pages)
        request = self._start_run(conversation, context or RequestContext(), model, began, keys)
        threading.Thread(
            target=lambda: self._run_safely(began, lambda: request, hold=True),
            name=f"reply-{request.run_id}",
            daemon=True,
        ).start()
        return request.run_id

    def _run_safely(self, began: float, start: Callable[[], _Request], *, hold: bool = False) -> ReplyOutcome:
        """Drive a request to its end, count and log it; an error becomes silence."""
        try:
            request = start()
            try:
                replied = self._drive(request)
            finally:
                if request.store is not self.bench.store:
                    self.bench.end_unstored_run(request.run_id, hold=hold)
        except Exception as error:  # the caller gets silence, never an error
            expected = isinstance(error, TouchstoneError)
            told = error if expected else type(error).__name__
            log.error("a reply failed: %s", told, exc_info=None if expected else error)
            replied = ReplyOutcome(AIResult(), ("failed",), f"{type(error).__name__}: {error}", failed=True)
        replied = replace(replied, seconds=time.monotonic() - began)
        log_outcome(replied)
        return replied

    def _start_run(
        self,
        conversation: Conversation,
        context: RequestContext,
        model: str,
        began: float,
        keys: ReplySettings,
    ) -> _Request:
        """The request, its pictures fetched, the library synchronised, its run created."""
        self.bench.check_quota()
        until = began + keys.graph_timeout_seconds
        images = self._fetch_pictures(conversation, until)
        self._refresh_library(until)
        owner, question = new_owner_id(), conversation.question[:MAX_SHOWN_CHARS]
        question = question or ("(pictures)" if conversation.images else "(nothing)")
        settings = Settings(flow="reply", model=model, max_seconds=keys.graph_timeout_seconds, reply=keys)
        if self.demo and self._client is None:
            chosen = self.bench.worker.choose_model(settings.replace(world="demo"), question)
            settings = settings.replace(model=chosen)
        pictures = [
            Picture(url=one.url, media_type=one.media_type, sha256=one.sha256, size=len(one.data))
            for one in images
        ]
        said = {"conversation": conversation, "context": context, "pictures": pictures}
        first = to_jsonable({"question": question, "settings": settings, **said})
        step = Step(n=0, name="ask", change=first, next=FLOW.first_step, by="person")
        if keys.store_conversations:
            with self.bench.worker.limits.admit_start(self.bench.store):
                run_id = self.bench.store.ledger.create(question, settings, step, owner=owner)
        else:
            run_id = self.bench.unstored.create(question, settings, step, owner=owner)
        return _Request(run_id, owner, until, self.bench.store_of(run_id), images)

    def _fetch_pictures(self, conversation: Conversation, until: float) -> list[Image]:
        """The pictures of a conversation; none when switched off. Raises UsageError when one is missing."""
        images = list[Image]()

        def check_time() -> None:
            if time.monotonic() > until:
                raise BudgetSpent("the time for this request ended before its pictures were fetched")

        wanted = conversation.images if self.response.ai_response.llm_enable_image else []
        if len(wanted) > MOST_PICTURES:
            raise UsageError(f"the conversation holds {len(wanted)} pictures; {MOST_PICTURES} is the limit")
        for url in wanted:
            got = self._pictures.fetch(url, check_time)
            images.append(Image(url, got.media_type, got.sha256, got.data))
            is_much = sum(len(image.data) for image in images) > MOST_BYTES
            too_much = f"the pictures have more than {MOST_BYTES // 1_000_000} MB together" if is_much else ""
            if detail := got.detail or too_much:
                raise UsageError(f"a picture could not be fetched: {url[:200]}: {detail}")
        return images

    def _refresh_library(self, until: float) -> None:
        """Synchronise the index with its folders, in one thread and at most every SYNC_S seconds. The request
        that starts it waits for it, all wait for the first one. Raises BudgetSpent at the deadline."""
        if not (self.library.kb_dir or self.library.team_dir):
            return
        with self._lock:
            is_idle = self._sync is None or self._sync.done()
            is_due = is_idle and time.monotonic() - self._synced_at >= SYNC_S
            if self._sync is None or is_due:
                self._sync = Future()
                threading.Thread(target=self._synchronize, args=(self._sync,), daemon=True).start()
            sync = self._sync
        if is_due or self._synced_at < 0:
            try:
                sync.result(max(0.0, until - time.monotonic()))
            except TimeoutError:
                said = "the time for this request ended before the knowledge base was read"
                raise BudgetSpent(said) from None

    def _synchronize(self, sync: Future[None]) -> None:
        """Errors are raised where the result is awaited; the end of the program does not wait for it."""
        try:
            self.library.sync()
        except BaseException as error:
            sync.set_exception(error)
            return
        self._synced_at = time.monotonic()
        sync.set_result(None)
        if self._summary_worker:
            self._summary_worker.start()

    def _drive(self, request: _Request) -> ReplyOutcome:
        ledger = request.store.ledger
        status = drive(
            request.run_id,
            flows={"reply": FLOW},
            store=request.store,
            owner=request.owner,
            equip=lambda *of: self._build_context(request, *of),
        )
        steps = ledger.steps(request.run_id)
        state: ReplyRun = FLOW.fold_steps(steps)
        run = ledger.get(request.run_id)
        over = state.stop_reason == "budget" or status is not Status.DONE
        late = state.own.should_reply and time.monotonic() > request.until
        if late:
            ledger.update_run(request.run_id, status=Status.FAILED, error=LATE_REASON)
        result = AIResult() if late or over else state.own.result
        is_invented = any(source.url.startswith(FILE_SCHEME) for source in state.own.loaded)
        if self.demo and result.should_reply and is_invented:
            result = result.replace(reply_text=f"{result.reply_text}\n\n{DEMO_NOTE}")
        why = run.error or state.own.silence or state.why_stopped or LATE_REASON
        return ReplyOutcome(
            result,
            (*(step.name for step in steps[1:] if step.by == "code"), steps[-1].next),
            "" if result.should_reply else why,
            bool(late or over or state.own.trouble),
            request.run_id,
            answerable=state.own.gating.should_reply if state.own.gating else None,
            left_out=tuple(state.own.left_out),
            usage=request.store.calls.sum_usage(request.run_id),
        )

    def _build_context(self, request: _Request, run: Run, lease: Lease) -> RunContext:
        tools = self.bench.worker.build_context(run, lease)
        tools.store = request.store
        tools.library, tools.deadline, tools.step_gap_s = self.library, request.until, 0.0
        if self._client is not None and run.settings.model != "keyless":
            tools.client, tools.model_failure = self._client, ""
        if request.images and tools.client is not None:
            tools.client = VisionModel(tools.client, request.images, run.settings.reply.llm_image_adapter)
        return tools


def log_outcome(replied: ReplyOutcome) -> None:
    """Write the log line, without a model's words about the conversation, and the metrics."""
    outcome = "success" if replied.result.should_reply else "error" if replied.failed else "skip"
    usage, reason = replied.usage, ""
    metrics.REQUESTS.labels(outcome).inc()
    metrics.LATENCY.observe(replied.seconds)
    metrics.TOKENS.labels("prompt").inc(usage.prompt_tokens)
    metrics.TOKENS.labels("completion").inc(usage.completion_tokens)
    if replied.answerable is not None:
        metrics.GATE_DECISIONS.labels("answerable" if replied.answerable else "not_answerable").inc()
    if replied.failed:
        kind = replied.reason.partition(":")[0]
        is_ours = not kind.isidentifier() or hasattr(errors, kind)  # else a library's words about anything
        reason = to_one_line(replied.reason[:MAX_SHOWN_CHARS] if is_ours else kind)
    fields = {
        "event": "reply",
        "run": replied.run_id,
        "path": " -> ".join(replied.path),
        "should_reply": replied.result.should_reply,
        "outcome": outcome,
        "seconds": replied.seconds,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "calls": usage.llm_calls,
        "left_out": len(replied.left_out),
        "reason": reason,
    }
    log.log(
        logging.WARNING if replied.failed else logging.INFO,
        "reply %(run)s: %(path)s; should_reply=%(should_reply)s (%(outcome)s); %(seconds).3f s, "
        "%(calls)d calls, %(prompt_tokens)d + %(completion_tokens)d tokens; %(reason)s",
        fields,
        extra=fields,
    )
