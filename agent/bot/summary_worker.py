"""Describes the documents of the library with the model that `kb.llm` names, in a thread of its own, a few at
a time.

What it writes changes how sources are told in the index, never how `reply` answers. A description a person
wrote is left alone, one a model wrote is kept as long as its text; when the model fails, the rule's
descriptions stand, and it is asked again later."""

from __future__ import annotations

import logging
import threading
import time

from agent.errors import ModelUnavailable, NotFound, ShutdownRequested
from agent.library.collection import Library
from agent.llm.client import ModelClient
from agent.llm.reply_model import ReplyModel
from agent.llm.structured_call import CallContext, request_structured
from agent.retrieval.extractive_summary import MAX_DESCRIPTION_CHARS
from agent.roles.describe import BEGINNING_CHARS, DESCRIBE
from agent.types import LibrarySource
from agent.types.library import SourceKind

log = logging.getLogger(__name__)
BATCH_SIZE = 50
"""Documents that are described in one go."""
RETRY_S = 300.0
"""Seconds before a model that failed is asked again."""
DESCRIBED_KINDS: tuple[SourceKind, ...] = ("file", "topic")
"""Pages of the web are too many, and theirs are told by rule."""
MAX_HEADINGS = 60
CALLS_RUN_ID = "library"
"""Under this name its calls are kept."""


class SummaryWorker:
    """Describes what nobody described yet. Thread-safe; one thread at most is at it."""

    def __init__(self, library: Library, model: ReplyModel) -> None:
        self.library, self._model = library, model
        self._calls = library.store.calls
        self._closing = threading.Event()
        self._running = threading.Lock()
        self._retry_at = 0.0

    def start(self) -> None:
        """Set about it in the background; does nothing while it is under way, or when the model failed
        lately."""
        if time.monotonic() >= self._retry_at and self._running.acquire(blocking=False):
            threading.Thread(target=self._run, name="describing", daemon=True).start()

    def close(self) -> None:
        """Stop after the call that is being made."""
        self._closing.set()

    def list_undescribed(self) -> list[LibrarySource]:
        """The documents that are told by rule so far, AT_ONCE at most."""
        found = [
            source
            for kind in DESCRIBED_KINDS
            for source in self.library.sources(kind=kind, limit=1_000_000)
            if source.described_by == "keyless"
        ]
        return found[:BATCH_SIZE]

    def _run(self) -> None:
        try:
            if waiting := self.list_undescribed():
                self._describe_all(waiting)
        except ShutdownRequested:
            return
        except ModelUnavailable as trouble:
            log.warning("documents are told by rule: %s", trouble)
            self._retry_at = time.monotonic() + RETRY_S
        finally:
            self._running.release()

    def _describe_all(self, waiting: list[LibrarySource]) -> None:
        client, trouble = self._model.client()
        if client is None:
            raise ModelUnavailable(trouble or "no model is named")
        for source in waiting:
            self._describe_source(client, source)

    def _describe_source(self, client: ModelClient, source: LibrarySource) -> None:
        """Describe one document, unless it changed or somebody else described it meanwhile."""
        try:
            page = self.library.load(source.source_id)
            ticket = CallContext(
                run_id=CALLS_RUN_ID,
                step=0,
                role=DESCRIBE.name,
                recall=self._calls.recall,
                record=self._calls.record,
                checkpoint=self._checkpoint,
            )
            headings = [heading.text for heading in page.headings[:MAX_HEADINGS]]
            said = DESCRIBE.judge(
                lambda _, messages, shape, tier: request_structured(
                    client,
                    ticket,
                    messages,
                    shape,
                    tier=tier,  # type: ignore[arg-type]
                ),  # type: ignore[arg-type]
                title=page.title,
                headings=headings,
                beginning=page.text[:BEGINNING_CHARS],
            )
            if said.by != "model":
                raise ModelUnavailable(said.fallback_reason)
            now = self.library.source(source.source_id)
            told = " ".join(said.value.description.split())[:MAX_DESCRIPTION_CHARS]
            if told and (now.page_id, now.described_by) == (source.page_id, "keyless"):
                self.library.describe(source.source_id, told, "model")
        except NotFound:
            log.info("%s went away before it was described", source.source_id)

    def _checkpoint(self) -> None:
        if self._closing.is_set():
            raise ShutdownRequested("this process is ending")
