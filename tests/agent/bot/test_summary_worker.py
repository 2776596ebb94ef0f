"""Documents are described by the model that is named for it, once, in the background; failures and people's
words are left standing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def done(is_met: Callable[[], bool]) -> bool:
    wait_for(is_met)
    return True


def at_rest(describing: SummaryWorker) -> bool:
    return done(lambda: not describing._running.locked())


def by(library: Library) -> dict[str, tuple[str, str]]:
    return {entry.source_id: (entry.by, entry.description) for entry in library.index()}


def test_a_document_is_described_once_and_again_when_its_text_is_new(library: Library) -> None:
    library.add_file("by-hand.md", b"# Notes\n\nSomething that a person described.")
    library.describe("kb:by-hand.md", "What I wrote.", "person")
    with ModelServer(
        lambda request: {"description": "Boats to the island:\ntimes and " + "tickets " * 99}
    ) as server:
        describing = SummaryWorker(
            library,
            ReplyModel(config.read_config(), LLMSettings(base_url=server.url, model="m", vram_limit=8)),
        )
        describing.start()
        assert done(lambda: by(library)["kb:boats.md"][0] == "model") and at_rest(describing)
        told = by(library)
        assert (
            told["kb:boats.md"][1].startswith("Boats to the island: times and tickets")
            and len(told["kb:boats.md"][1]) <= 280
        )
        assert told["kb:by-hand.md"] == ("person", "What I wrote.")
        [request] = server.requests
        assert (
            "leaves at seven" in request.prompt
            and "Tickets" in request.prompt
            and request.body["vram_limit"] == 8
        )
        describing.start()
        assert at_rest(describing) and len(server.requests) == 1
        library.add_file("boats.md", BOATS.replace("seven", "nine").encode())
        describing.start()
        assert done(lambda: len(server.requests) == 2) and at_rest(describing)
        assert all(one.described_by != "keyless" for one in library.sources(kind="file", limit=9))
        assert len(library.store.calls.list_for_run("library")) == 2


def test_a_model_that_fails_leaves_the_rules_words_and_is_not_asked_at_once_again(library: Library) -> None:
    with ModelServer(lambda _: web.status(401)) as server:
        describing = SummaryWorker(
            library, ReplyModel(config.read_config(), LLMSettings(base_url=server.url, model="m"))
        )
        for _ in range(3):
            describing.start()
            assert at_rest(describing)
        assert len(server.requests) == 1 and by(library)["kb:boats.md"][0] == "keyless"


def test_what_changes_while_the_model_thinks_keeps_its_own_words(library: Library) -> None:
    def slow(_: Request) -> Any:
        library.add_file("boats.md", BOATS.replace("seven", "nine").encode())
        return {"description": "Boats at seven."}

    with ModelServer(slow) as server:
        describing = SummaryWorker(
            library, ReplyModel(config.read_config(), LLMSettings(base_url=server.url, model="m"))
        )
        describing.start()
        assert (
            at_rest(describing) and len(server.requests) == 1 and by(library)["kb:boats.md"][0] == "keyless"
        )
