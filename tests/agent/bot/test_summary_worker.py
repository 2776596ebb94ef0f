"""Documents are described by the model that is named for it, once, in the background; failures and people's
words are left standing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent import config
from agent.bot.responder import ReplyService
from agent.bot.summary_worker import SummaryWorker
from agent.library.collection import Library
from agent.llm.detect import ReplyModel
from agent.reply_config import LLMSettings
from agent.roles.reply import DESCRIBE
from agent.store.database import Store
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench
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


def done(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 20
    while not holds() and time.monotonic() < until:
        threading.Event().wait(0.01)
    return holds()


def at_rest(describing: SummaryWorker) -> bool:
    return done(lambda: not describing._running.locked())


def by(library: Library) -> dict[str, tuple[str, str]]:
    return {entry.source_id: (entry.by, entry.description) for entry in library.index()}


def test_the_rule_tells_what_the_index_told() -> None:
    said = DESCRIBE.fallback(
        title="Boats", headings=["Tickets"], beginning="The boat to the island leaves at seven."
    )
    assert said.description == "Boats: The boat to the island leaves at seven. — Tickets"


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
        assert describing.list_undescribed() == [] and len(library.store.calls.list_for_run("library")) == 2


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


def test_the_service_describes_its_folder_with_the_model_of_kb_and_replies_without_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "boats.md").write_text(BOATS, encoding="utf-8")
    with ModelServer(lambda _: {"description": "Boats to the island."}) as server:
        file = f"kb: {{sources_dir: docs, llm: {{base_url: '{server.url}', model: describer}}}}"
        (tmp_path / "config.yaml").write_text(file, encoding="utf-8")
        bench = Workbench(config.read_config({"CONFIG_FILE": str(tmp_path / "config.yaml")}))
        replying = ReplyService(bench)
        replied = replying.reply(
            Conversation(messages=[Message(role="user", text="When does the boat to the island leave?")])
        )
        assert "leaves at seven" in replied.result.reply_text and replied.usage.llm_calls == 0
        assert done(lambda: by(bench.library)["kb:boats.md"] == ("model", "Boats to the island."))
        assert at_rest(replying._summary_worker)  # type: ignore[arg-type]
        assert [request.body["model"] for request in server.requests] == ["describer"]
        replying.close()
        bench.shutdown()
