"""Documents are described by the model that is named for it, once, in the background; failures and people's
words are left standing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.bot.summary_worker import SummaryWorker
from agent.library.collection import Library
from agent.llm.detect import ReplyModel
from agent.settings import config
from agent.settings.reply_config import LLMSettings
from agent.store.database import Store
from tests.waiting import wait_for
from tests.web import model_server as web
from tests.web.model_server import ModelServer, Request

BOATS = "# Boats\n\nThe boat to the island leaves at seven.\n\n## Tickets\n\nTickets are sold on board."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    store = Store(f"sqlite:///{tmp_path}/d.db")
    made = Library(store)
    made.add_file("boats.md", BOATS.encode())
    yield made
    store.close()


def describe(library: Library, server: ModelServer, **llm: Any) -> SummaryWorker:
    """A worker that asks this server, after its first round."""
    settings = LLMSettings(base_url=server.url, model="m", **llm)
    describing = SummaryWorker(library, ReplyModel(config.read_config(), settings))
    again(describing)
    return describing


def again(describing: SummaryWorker) -> None:
    describing.start()
    wait_for(lambda: not describing._running.locked())


def by(library: Library) -> dict[str, tuple[str, str]]:
    return {entry.source_id: (entry.described_by, entry.description) for entry in library.index()}


def test_a_document_is_described_once_and_again_when_its_text_is_new(library: Library) -> None:
    library.add_file("by-hand.md", b"# Notes\n\nSomething that a person described.")
    library.describe("kb:by-hand.md", "What I wrote.", "person")
    words = "Boats to the island:\ntimes and " + "tickets " * 99
    with ModelServer(lambda request: {"description": words}) as server:
        describing = describe(library, server, vram_limit=8)
        told = by(library)
        assert told["kb:boats.md"][0] == "model" and len(told["kb:boats.md"][1]) <= 280
        assert told["kb:boats.md"][1].startswith("Boats to the island: times and tickets")
        assert told["kb:by-hand.md"] == ("person", "What I wrote.")
        [request] = server.requests
        assert "leaves at seven" in request.prompt and "Tickets" in request.prompt
        assert request.body["vram_limit"] == 8
        again(describing)
        assert len(server.requests) == 1
        library.add_file("boats.md", BOATS.replace("seven", "nine").encode())
        again(describing)
        assert len(server.requests) == 2 and by(library)["kb:boats.md"][0] == "model"
        assert len(library.store.calls.list_for_run("library")) == 2


def test_a_model_that_fails_leaves_the_rules_words_and_is_not_asked_at_once_again(library: Library) -> None:
    with ModelServer(lambda _: web.status(401)) as server:
        describing = describe(library, server)
        again(describing)
        assert len(server.requests) == 1 and by(library)["kb:boats.md"][0] == "keyless"


def test_what_changes_while_the_model_thinks_keeps_its_own_words(library: Library) -> None:
    def slow(_: Request) -> Any:
        library.add_file("boats.md", BOATS.replace("seven", "nine").encode())
        return {"description": "Boats at seven."}

    with ModelServer(slow) as server:
        describe(library, server)
        assert len(server.requests) == 1 and by(library)["kb:boats.md"][0] == "keyless"
