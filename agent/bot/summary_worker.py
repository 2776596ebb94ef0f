"""Describes the library's documents with the model of `kb.llm`, in a thread, a batch at a time; what a person
wrote stays, and an index entry made without a model until the model answers."""

from __future__ import annotations

import logging
import threading
import time

from agent.errors import BudgetSpent, ModelUnavailable, NotFound, ShutdownRequested
from agent.library.collection import Library
from agent.llm.detect import ReplyModel
from agent.llm.model import Model
from agent.llm.structured_call import RESERVE_NOTHING, CallContext, ReserveUse, request_structured
from agent.retrieval.passages import MAX_DESCRIPTION_CHARS
from agent.roles.reply import BEGINNING_CHARS, DESCRIBE
from agent.types import LibrarySource

log = logging.getLogger(__name__)
BATCH_SIZE = 50
"""Documents described at once."""
RETRY_S = 300.0
"""Seconds before a failed model is called again."""
MAX_HEADINGS = 60


class SummaryWorker:
    """Describes documents without a description. Thread-safe; at most one thread works."""

    def __init__(self, library: Library, model: ReplyModel, reserve: ReserveUse = RESERVE_NOTHING) -> None:
        self.library, self._model, self._reserve = library, model, reserve
        self._closing = threading.Event()
        self._running = threading.Lock()
        self._retry_at = 0.0

    def start(self) -> None:
        """Start in the background; does nothing while it is working, or shortly after the model failed."""
        if time.monotonic() >= self._retry_at and self._running.acquire(blocking=False):
            threading.Thread(target=self._run, name="describing", daemon=True).start()

    def close(self) -> None:
        """Stop after the current call."""
        self._closing.set()

    def _run(self) -> None:
        try:
            kinds = ("file", "topic")  # web pages are too many: they are described without a model
            found = [one for kind in kinds for one in self.library.sources(kind=kind, limit=1_000_000)]
            if waiting := [one for one in found if one.described_by == "keyless"][:BATCH_SIZE]:
                client, reason = self._model.client()
                if client is None:
                    raise ModelUnavailable(reason or "no model is named")
                for source in waiting:
                    self._describe_source(client, source)
        except ShutdownRequested:
            return
        except (ModelUnavailable, BudgetSpent) as error:
            log.warning("documents are described without the model: %s", error)
            self._retry_at = time.monotonic() + RETRY_S
        finally:
            self._running.release()

    def _describe_source(self, client: Model, source: LibrarySource) -> None:
        """Describe one document, unless it changed or got a description meanwhile."""
        try:
            page = self.library.load(source.source_id)
            stored = self.library.store.calls
            of = "library", 0, DESCRIBE.name
            context = CallContext(*of, stored.recall, stored.record, self._checkpoint, reserve=self._reserve)
            judged = DESCRIBE.judge(
                lambda _, messages, shape, tier: request_structured(
                    client,
                    context,
                    messages,
                    shape,
                    tier=tier,  # type: ignore[arg-type]
                ),
                title=page.title,
                headings=[heading.text for heading in page.headings[:MAX_HEADINGS]],
                beginning=page.text[:BEGINNING_CHARS],
            )
            if judged.by != "model":
                raise ModelUnavailable(judged.failure)
            description = " ".join(judged.value.description.split())[:MAX_DESCRIPTION_CHARS]
            now = self.library.source(source.source_id)
            if description and (now.page_id, now.described_by) == (source.page_id, "keyless"):
                self.library.describe(source.source_id, description, "model")
        except NotFound:
            log.info("%s was removed before it was described", source.source_id)

    def _checkpoint(self) -> None:
        if self._closing.is_set():
            raise ShutdownRequested("this process is stopping")
