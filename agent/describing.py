"""Describes the documents of the library with the model that `kb.llm` names, in a thread of its own, a few at a time.

What it writes changes how sources are told in the index, never how `reply` answers. A description a person wrote is left alone, one a
model wrote is kept as long as its text; when the model fails, the rule's descriptions stand, and it is asked again later.
"""

from __future__ import annotations

import logging
import threading
import time

from agent.errors import ModelUnavailable, NotFound, ShuttingDown
from agent.holdings import Library
from agent.llm.ask import Ticket, ask
from agent.llm.client import Client
from agent.reply_model import ReplyModel
from agent.roles.describe import BEGINNING, DESCRIBE
from agent.text.describe import LONGEST
from agent.types import LibrarySource
from agent.types.holdings import Kind

log = logging.getLogger(__name__)
AT_ONCE = 50
"""Documents that are described in one go."""
AGAIN_S = 300.0
"""Seconds before a model that failed is asked again."""
KINDS: tuple[Kind, ...] = ("file", "topic")
"""Pages of the web are too many, and theirs are told by rule."""
HEADINGS = 60
RUN = "library"
"""Under this name its calls are kept."""


class Describing:
    """Describes what nobody described yet. Thread-safe; one thread at most is at it."""

    def __init__(self, library: Library, model: ReplyModel) -> None:
        self.holdings, self._model = library, model
        self._calls = library.store.calls
        self._closing = threading.Event()
        self._busy = threading.Lock()
        self._later = 0.0

    def begin(self) -> None:
        """Set about it in the background; does nothing while it is under way, or when the model failed lately."""
        if time.monotonic() >= self._later and self._busy.acquire(blocking=False):
            threading.Thread(target=self._work, name="describing", daemon=True).start()

    def close(self) -> None:
        """Stop after the call that is being made."""
        self._closing.set()

    def waiting(self) -> list[LibrarySource]:
        """The documents that are told by rule so far, AT_ONCE at most."""
        found = [source for kind in KINDS for source in self.holdings.sources(kind=kind, limit=1_000_000) if source.described_by == "keyless"]
        return found[:AT_ONCE]

    def _work(self) -> None:
        try:
            if waiting := self.waiting():
                self._describe(waiting)
        except ShuttingDown:
            return
        except ModelUnavailable as trouble:
            log.warning("documents are told by rule: %s", trouble)
            self._later = time.monotonic() + AGAIN_S
        finally:
            self._busy.release()

    def _describe(self, waiting: list[LibrarySource]) -> None:
        client, trouble = self._model.client()
        if client is None:
            raise ModelUnavailable(trouble or "no model is named")
        for source in waiting:
            self._one(client, source)

    def _one(self, client: Client, source: LibrarySource) -> None:
        """Describe one document, unless it changed or somebody else described it meanwhile."""
        try:
            page = self.holdings.load(source.source_id)
            ticket = Ticket(run_id=RUN, step=0, role=DESCRIBE.name, recall=self._calls.recall, record=self._calls.record, checkpoint=self._checkpoint)
            headings = [heading.text for heading in page.headings[:HEADINGS]]
            said = DESCRIBE.judge(
                lambda _, messages, shape, tier: ask(client, ticket, messages, shape, tier=tier),  # type: ignore[arg-type]
                title=page.title, headings=headings, beginning=page.text[:BEGINNING],
            )  # fmt: skip
            if said.by != "model":
                raise ModelUnavailable(said.trouble)
            now = self.holdings.source(source.source_id)
            told = " ".join(said.value.description.split())[:LONGEST]
            if told and (now.page_id, now.described_by) == (source.page_id, "keyless"):
                self.holdings.describe(source.source_id, told, "model")
        except NotFound:
            log.info("%s went away before it was described", source.source_id)

    def _checkpoint(self) -> None:
        if self._closing.is_set():
            raise ShuttingDown("this process is ending")
