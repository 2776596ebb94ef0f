"""The settings file of the reply service: its model, its folders, and the demo knowledge base."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.bot.responder import DEMO_NOTE
from agent.errors import NotFound, StoreError
from agent.settings.reply_config import DEMO_KB
from agent.types import Outcome, Page
from agent.types.reply import AIResult
from tests.agent.bot.replies import NIGHT, SAID, Open, says
from tests.waiting import wait_for
from tests.web import model_server as web
from tests.web.model_server import ModelServer, Request
from tests.web.replying_model import Script
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


def speaks(request: Request) -> Any:
    """The script behind a real server, whatever form the reply is asked for in."""
    tool, shape = request.body.get("tools", [{}])[0].get("function"), request.body.get("response_format")
    name = tool["name"] if tool else shape["json_schema"]["name"]
    said = Script(write=[(SAID, SAID)])(request.body["messages"], type(name, (), {}))
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(said)}}
    return web.says(None, tool_calls=[call]) if tool else said


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_the_file_goes_before_the_environment_and_says_how_to_ask(opened: Open, method: str) -> None:
    with ModelServer(speaks) as server, ModelServer() as other:
        llm = {"base_url": server.url, "api_key": "own", "model": "crynux", "vram_limit": 24.5}
        own = {"llm": {**llm, "structured_output_method": method}}
        env = {"OPENAI_BASE_URL": other.url, "OPENAI_API_KEY": "env", "MODEL": "env"}
        replied = opened({"ai_response": own}, **env).reply(says())
        assert replied.result.reply_text == NIGHT and len(server.requests) == 3 and other.paths == []
        for request in server.requests:
            assert (request.body["model"], request.body["vram_limit"]) == ("crynux", 24.5)
            assert request.headers["authorization"] == "Bearer own"
            assert ("tools" in request.body) is (method == "function_calling")
        assert replied.usage.prompt_tokens == 33 and replied.usage.completion_tokens == 21


def test_a_folder_that_takes_long_to_read_holds_nobody_up(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "boats.md").write_text(
        "# Boats\n\nThe boat to the island leaves at seven.\n", encoding="utf-8"
    )
    replying = opened(
        {"kb": {"sources_dir": "docs"}, "ai_response": {"graph_timeout_seconds": 0.3}}, stock=False
    )
    real, let_go, looks = replying.library.sync, threading.Event(), list[int]()

    def slow() -> Any:
        looks.append(1)
        let_go.wait(30)
        return real()

    monkeypatch.setattr(replying.library, "sync", slow)
    for _ in range(2):
        replied = replying.reply(says("When does the boat to the island leave?"))
        assert replied.failed and "time" in replied.reason and "knowledge base" in replied.reason
    assert looks == [1], "it is being looked at; nobody begins again"
    let_go.set()
    wait_for(lambda: replying.library.index())
    assert {entry.source_id for entry in replying.library.index()} == {"kb:boats.md"}


def quotes(source_id: str, sentence: str) -> ScriptedModel:
    """A model that loads one document and quotes a sentence of it."""
    return ScriptedModel(Script(select=[source_id], write=[(sentence, sentence)]))


def test_the_folders_of_the_file_are_the_knowledge_base_and_stay_current(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.bot.responder.SYNC_S", 0.0)
    docs, boats, script = tmp_path / "docs", "# Boats\n\nThe boat to the island leaves at {}.\n", Script()
    (docs / "team").mkdir(parents=True)
    (docs / "boats.md").write_text(boats.format("seven"), encoding="utf-8")
    (docs / "team" / "tokens.txt").write_text(
        "Test tokens\n\nTest tokens are given out on Mondays.\n", encoding="utf-8"
    )
    replying = opened({"kb": {"sources_dir": "docs"}}, stock=False, client=ScriptedModel(script))
    for source_id, said in (
        ("kb:boats.md", "The boat to the island leaves at seven."),
        ("team:tokens.txt", "Test tokens are given out on Mondays."),
        ("kb:boats.md", "The boat to the island leaves at nine."),
    ):
        if "nine" in said:
            (docs / "boats.md").write_text(boats.format("nine"), encoding="utf-8")
        script.parts |= {"selection": [source_id], "writing": [(said, said)]}
        assert said in replying.generate_reply(says("What do the documents say?")).reply_text
        assert {entry.source_id for entry in replying.library.index()} == {"kb:boats.md", "team:tokens.txt"}


def test_a_folder_that_cannot_be_read_at_all_is_silence(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    replying = opened({"kb": {"sources_dir": "docs"}}, stock=False, client=ScriptedModel(Script()))

    def broken() -> None:
        raise StoreError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(replying.library, "sync", broken)
        replied = replying.reply(says())
    assert replied.failed and "disk full" in replied.reason and replied.result == AIResult()
    assert replying.reply(says()).reason == "The knowledge base is empty.", "and it is looked at again"


CLOCK = "The clock of the machine differs by more than 90 seconds from the clock of the backup server."


def test_the_demo_knowledge_base_says_what_it_is_and_stays_apart(opened: Open) -> None:
    replying = opened(stock=False, kb=DEMO_KB, client=quotes("kb:error-codes.md", CLOCK))
    replied = replying.reply(says("What does error E31 want of me?"), hold=True)
    assert CLOCK in replied.result.reply_text
    assert replied.result.reply_text.endswith(DEMO_NOTE)
    assert "team:trial-keys.txt" in {entry.source_id for entry in replying.library.index()}
    replying.bench.library.index_pending()
    assert replying.bench.library.index() == [], "nothing of it gets into the library"
    source = replying.bench.snapshot(replied.run_id).state.answer.sources[0]  # type: ignore[union-attr]
    assert source.quotes[0] in replying.bench.page(source.page_id).text, (
        "and yet every quote can be looked up"
    )


def test_the_demo_named_in_the_settings_says_so_too(opened: Open) -> None:
    boats, url, script = "Boats leave the harbour at seven.", "https://a.fyr.org/x", Script()
    script.parts |= {"selection": ["kb:error-codes.md"], "writing": [(CLOCK, CLOCK)]}
    replying = opened({"kb": {"sources_dir": str(DEMO_KB)}}, stock=False, client=ScriptedModel(script))
    assert replying.generate_reply(says("What does E31 want?")).reply_text.endswith(DEMO_NOTE)
    replying.library.add_page(Page(url=url, final_url=url, outcome=Outcome.OK, text=boats, sha256="e" * 64))
    script.parts |= {"selection": [f"kb:{url}"], "writing": [(boats, boats)]}
    assert replying.generate_reply(says("When do boats leave?")).reply_text.endswith(f"Links:\n- {url}")


def test_a_folder_that_is_not_there_is_told(opened: Open, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no folder"):
        opened(kb=tmp_path / "gone")


def test_the_demo_added_to_the_library_by_hand_is_not_told_as_true(opened: Open) -> None:
    replying = opened(stock=False)
    added = replying.library.add_folder(DEMO_KB, tags=["mine"])
    assert added.sources and all(source.tags == ["demo", "mine"] for source in added.sources)
    assert not replying.reply(says("How do I fix error E31?")).result.should_reply
