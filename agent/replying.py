"""Replying as a service: a conversation in, a reply or silence out. The door of `reply` for bots, the command line and the screens.

    Replying(workbench).generate_reply(Conversation(messages=[...]), RequestContext(channel="help"))  ->  AIResult

One frozen flow serves every thread; each request is a run of its own, kept for audit and never resumed. Nothing raises: whatever
goes wrong is silence, one line in the log and one count. It holds nothing between two requests but its connections.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent import metrics, response_config
from agent.describing import Describing
from agent.errors import BudgetSpent, NotFound, TouchstoneError
from agent.flows import FLOWS
from agent.flows.reply_state import Reply
from agent.holdings import Library
from agent.llm.images import Image, Seeing
from agent.loop import advance
from agent.reply_model import ReplyModel
from agent.response_config import DEMO_KB, ResponseConfig, team_in
from agent.state import jsonable
from agent.store.database import Store
from agent.store.ledger import Lease
from agent.store.owner import new_owner
from agent.toolbox import Tools
from agent.tools.pictures import Pictures
from agent.types import Run, Settings, Status, Step, Usage
from agent.types.reply import AIResult, Conversation, Picture, RequestContext
from agent.urls import FILE
from agent.workbench import Workbench

log = logging.getLogger("agent.reply")
SYNC_S = 5.0
"""Seconds between two looks at the folders of the knowledge base."""
MOST_PICTURES, MOST_BYTES = 20, 32_000_000
"""Pictures that one conversation may hold, and what they may weigh together: they lie in memory until the reply is there."""
TOLD = 500
"""Characters of a reason in the log, on one line: it may be a model's or a stranger's words."""
TITLE = 500
"""Characters of a conversation's question in the list of runs."""
DEMO_NOTE = "(From the demo knowledge base; everything in it is invented.)"
LATE = "The reply came after its time was over, and was not given out."
FLOW = FLOWS["reply"]
ALONE = {"reply": FLOW}


@dataclass(frozen=True)
class Replied:
    """A reply with how it came about. `failed`: something went wrong; else silence was a decision. `reason` says why nothing is said."""

    result: AIResult
    run_id: str = ""
    path: tuple[str, ...] = ()
    reason: str = ""
    failed: bool = False
    answerable: bool | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class _Request:
    """A request under way: its run, who drives it, what was fetched for it, and when it must have ended."""

    run_id: str
    owner: str
    until: float
    images: Sequence[Image] = ()


class Replying:
    """Answers conversations from a knowledge base. Thread-safe; one for a process.

    Without `kb` it answers from the workbench's library, kept current with the folders that `config.yaml` names; with it from that
    folder alone, indexed in a place of its own. `client` takes the place of the configured model.
    """

    def __init__(self, bench: Workbench, *, kb: Path | None = None, response: ResponseConfig | None = None, client: Any = None) -> None:
        self.bench, self.response = bench, response or response_config.read(bench.config)
        keys = self.response.ai_response
        if kb and not kb.is_dir():
            raise NotFound(f"there is no folder {kb}: name one that holds the knowledge base")
        self._store = Store(f"sqlite:///{bench.config.data / 'kb' / _name(kb)}") if kb else None
        self.holdings = Library(self._store, kb_dir=kb, team_dir=team_in(kb)) if self._store else bench.holdings
        self.demo = self.holdings.kb_dir is not None and self.holdings.kb_dir.resolve() == DEMO_KB
        self._pictures = Pictures(
            bench.config, timeout_s=keys.image_download_timeout_seconds, retries=keys.image_download_max_retries
        ) if keys.llm_enable_image else None  # fmt: skip
        self._client = client
        own = self.response.kb.llm
        self._describing = Describing(self.holdings, ReplyModel(bench.config, own)) if own else None
        self._synced = -SYNC_S
        self._look: Future[None] | None = None
        """A look at the folders that is under way."""
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of what this service opened; the workbench stays open."""
        if self._describing:
            self._describing.close()
        if self._pictures:
            self._pictures.close()
        if self._store:
            self._store.close()

    def generate_reply(self, conversation: Conversation, context: RequestContext | None = None) -> AIResult:
        """The reply to a conversation, or silence. Never raises."""
        return self.reply(conversation, context).result

    def reply(self, conversation: Conversation, context: RequestContext | None = None, *, model: str = "auto", began: float = 0.0) -> Replied:
        """The same with how it came about. `began`: when the request arrived, on the monotonic clock. Never raises."""
        began = began or time.monotonic()
        return self._watched(began, lambda: self._begun(conversation, context or RequestContext(), model, began))

    def begin(self, conversation: Conversation, context: RequestContext | None = None, *, model: str = "auto") -> str:
        """Start a reply in the background and return its run's id, to be watched. Raises TouchstoneError when it cannot be started."""
        began = time.monotonic()
        request = self._begun(conversation, context or RequestContext(), model, began)
        threading.Thread(target=lambda: self._watched(began, lambda: request), name=f"reply-{request.run_id}", daemon=True).start()
        return request.run_id

    # ------------------------------------------------------------------------------------------------------------------

    def _watched(self, began: float, request: Any) -> Replied:
        """Drive a request to its end, count it and log it, whatever happens."""
        try:
            replied = self._driven(request())
        except Exception as trouble:  # a door: whoever asked gets silence, never our trouble
            expected = isinstance(trouble, TouchstoneError)
            log.error("a reply failed: %s", trouble, exc_info=None if expected else trouble)
            replied = Replied(AIResult(), path=("failed",), reason=f"{type(trouble).__name__}: {trouble}", failed=True)
        seconds = time.monotonic() - began
        return _told(replied, seconds)

    def _begun(self, conversation: Conversation, context: RequestContext, model: str, began: float) -> _Request:
        """Everything before the flow: pictures fetched, the library made current, the run written down."""
        keys = self.response.settings
        until = began + keys.graph_timeout_seconds
        images, pictures, missing = self._fetched(conversation, until)
        self._make_current(until)
        owner = new_owner()
        settings = Settings(flow="reply", model=model, max_seconds=keys.graph_timeout_seconds, reply=keys)
        question = conversation.question[:TITLE] or ("(pictures)" if conversation.images else "(nothing)")
        first: dict[str, Any] = {
            "question": question, "settings": settings, "conversation": conversation, "context": context, "pictures": pictures,
        }  # fmt: skip
        if missing:
            first |= {"silence": f"A picture could not be fetched: {missing}", "trouble": missing}
        step = Step(n=0, name="ask", change=jsonable(first), next="silent" if missing else FLOW.first, by="person")
        run_id = self.bench.store.ledger.create(question, settings, step, owner=owner)
        if missing:
            self.bench.store.ledger.mark(run_id, status=Status.DONE, owner="", lease_until=0.0)
        return _Request(run_id, owner, until, images)

    def _fetched(self, conversation: Conversation, until: float) -> tuple[list[Image], list[Picture], str]:
        """The pictures of a conversation in their order, and why one is missing; nothing is fetched while pictures are switched off."""
        images: list[Image] = []
        pictures: list[Picture] = []
        wanted = conversation.images if self._pictures else []
        if len(wanted) > MOST_PICTURES:
            return [], [], f"the conversation holds {len(wanted)} pictures; {MOST_PICTURES} are the most"
        for url in wanted:
            got = self._pictures.fetch(url, _deadline(until))  # type: ignore[union-attr]
            pictures.append(Picture(url=url, media_type=got.media_type, sha256=got.sha256, size=len(got.data), detail=got.detail))
            images.append(Image(url, got.media_type, got.sha256, got.data))
            together = sum(picture.size for picture in pictures)
            if detail := got.detail or (f"the pictures weigh more than {MOST_BYTES // 1_000_000} MB together" if together > MOST_BYTES else ""):
                return [], pictures, f"{url[:200]}: {detail}"
        return images, pictures, ""

    def _make_current(self, until: float) -> None:
        """Bring the index up to date with its folders; one thread looks, at most every SYNC_S seconds, and a request waits for its
        own look, and all wait for the first one, but never longer than they have time."""
        if not (self.holdings.kb_dir or self.holdings.team_dir) or (self._synced > 0 and time.monotonic() - self._synced < SYNC_S):
            return
        with self._lock:
            look, mine = self._look, self._look is None
            if look is None:
                look = self._look = Future()
                threading.Thread(target=self._sync, args=(look,), name="kb-sync", daemon=True).start()
        if mine or self._synced < 0:
            try:
                look.result(max(0.0, until - time.monotonic()))
            except TimeoutError:
                raise BudgetSpent("the time for this request was over before the knowledge base was read") from None

    def _sync(self, look: Future[None]) -> None:
        """One look at the folders; whoever waits for it is told what went wrong."""
        try:
            self.holdings.sync()
            self._synced = time.monotonic()
        except BaseException as trouble:
            look.set_exception(trouble)
        else:
            look.set_result(None)
            if self._describing:
                self._describing.begin()
        finally:
            self._look = None

    def _driven(self, request: _Request) -> Replied:
        ledger = self.bench.store.ledger
        status = advance(request.run_id, flows=ALONE, store=self.bench.store, owner=request.owner, equip=lambda *of: self._equipped(request, *of))
        steps = ledger.steps(request.run_id)
        state: Reply = FLOW.begin(steps)
        run = ledger.get(request.run_id)
        over = state.stop_reason == "budget" or status is not Status.DONE
        late = state.should_reply and time.monotonic() > request.until
        if late:
            ledger.mark(request.run_id, status=Status.FAILED, error=LATE)
        result = AIResult() if late or over else self._noted(state)
        reason = "" if result.should_reply else run.error or state.silence or state.why_stopped or LATE
        return Replied(
            result, request.run_id, _path(steps), reason, failed=bool(late or over or state.trouble),
            answerable=state.gating.should_reply if state.gating else None, usage=self.bench.store.calls.spent(request.run_id),
        )  # fmt: skip

    def _equipped(self, request: _Request, run: Run, lease: Lease) -> Tools:
        tools = self.bench.worker.equip(run, lease)
        tools.holdings, tools.until, tools.gap_s = self.holdings, request.until, 0.0
        if self._client is not None and run.settings.model != "keyless":
            tools.client, tools.trouble = self._client, ""
        if request.images and tools.client is not None:
            tools.client = Seeing(tools.client, request.images, run.settings.reply.llm_image_adapter)
        return tools

    def _noted(self, state: Reply) -> AIResult:
        """The result; a reply that rests on a file of the demo knowledge base says so."""
        result = state.result
        if not (self.demo and result.should_reply and any(source.url.startswith(FILE) for source in state.loaded)):
            return result
        return result.model_copy(update={"reply_text": f"{result.reply_text}\n\n{DEMO_NOTE}"})


def _told(replied: Replied, seconds: float) -> Replied:
    """The one line of the log, and the counters."""
    outcome = "success" if replied.result.should_reply else "error" if replied.failed else "skip"
    metrics.count(outcome, seconds, replied.usage, answerable=replied.answerable)
    usage, path = replied.usage, " -> ".join(replied.path)
    reason = "".join(sign if sign.isprintable() else " " for sign in replied.reason[:TOLD])
    extra = {
        "event": "reply", "run": replied.run_id, "path": path, "should_reply": replied.result.should_reply, "outcome": outcome, "seconds": seconds,
        "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens, "calls": usage.llm_calls, "reason": reason,
    }  # fmt: skip
    log.log(
        logging.WARNING if replied.failed else logging.INFO, "reply %s: %s; should_reply=%s (%s); %.3f s, %d calls, %d + %d tokens%s",
        replied.run_id or "-", path, replied.result.should_reply, outcome, seconds, usage.llm_calls, usage.prompt_tokens, usage.completion_tokens,
        f"; {reason}" if reason else "", extra=extra,
    )  # fmt: skip
    return Replied(**{**replied.__dict__, "seconds": seconds})


def _path(steps: Sequence[Step]) -> tuple[str, ...]:
    """The steps that were taken, and where the run rests."""
    return (*(step.name for step in steps[1:] if step.by == "code"), steps[-1].next)


def _deadline(until: float) -> Any:
    def look() -> None:
        if time.monotonic() > until:
            raise BudgetSpent("the time for this request was over before its pictures were fetched")

    return look


def _name(folder: Path) -> str:
    """The file that holds a folder's index."""
    return hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16] + ".db"
