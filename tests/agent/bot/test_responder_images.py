"""Pictures of a conversation: fetched before the flow, in order, within limits and time."""

from __future__ import annotations

import logging

import pytest

from agent.bot.responder import MOST_PICTURES
from agent.types.reply import AIResult, Conversation, Message
from tests.agent.bot.replies import ASKED, NIGHT, PNG, SAID, Open, line_of, says
from tests.web.replying_model import Script
from tests.web.scripted import ScriptedModel
from tests.web.site import Reply, Site, sends_to

pytestmark = pytest.mark.slow


ENABLED = {
    "ai_response": {
        "llm_enable_image": True,
        "image_download_max_retries": 1,
        "image_download_timeout_seconds": 2,
    }
}


def test_pictures_are_fetched_before_the_flow_and_reach_the_model_in_order(opened: Open) -> None:
    script = Script(write=[(SAID, SAID)])
    model = ScriptedModel(script)
    with Site({"/1.png": Reply(200, PNG + b"1"), "/2.png": Reply(200, PNG + b"2")}) as site:
        replying = opened(ENABLED, client=model, stored=True)
        talk = Conversation(
            messages=[
                Message(role="user", text="first", images=[site.url("/2.png")]),
                Message(role="user", text=ASKED, images=[site.url("/1.png")]),
            ]
        )
        assert replying.reply(talk).result.reply_text == NIGHT
        assert site.paths() == ["/2.png", "/1.png"]
    for asked in model.requests:
        content = asked.messages[-1]["content"]
        urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        assert len(urls) == 2 and urls[0].startswith("data:image/png;base64,") and urls[0] != urls[1]
    calls = replying.bench.calls(replying.bench.runs()[0].id)
    assert all(
        isinstance(message["content"], str) and "base64" not in message["content"]
        for call in calls
        for message in call.prompt
    )


def test_the_adapter_of_the_settings_is_used(opened: Open) -> None:
    model = ScriptedModel(Script(gate=False))
    with Site({"/1.png": Reply(200, PNG)}) as site:
        file = {"ai_response": {**ENABLED["ai_response"], "llm_image_adapter": "openai_url"}}
        opened(file, client=model).reply(says(images=[site.url("/1.png")]))
        content = model.requests[0].messages[-1]["content"]
        assert [part["image_url"]["url"] for part in content if part["type"] == "image_url"] == [
            site.url("/1.png")
        ]


def test_one_picture_that_fails_is_silence_without_asking_the_model(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel(Script(write=[(SAID, SAID)]))
    with Site({"/1.png": Reply(200, PNG)}) as site, caplog.at_level(logging.INFO, "agent.reply"):
        replied = opened(ENABLED, client=model).reply(says(images=[site.url("/1.png"), site.url("/bad")]))
    assert replied.result == AIResult() and replied.failed and "picture" in replied.reason
    assert model.calls == 0 and line_of(caplog).path == "failed"  # type: ignore[attr-defined]


def test_no_picture_is_fetched_from_inside(opened: Open) -> None:
    model = ScriptedModel(Script(write=[(SAID, SAID)]))
    inner = "http://169.254.169.254/latest/meta-data/x.png"
    with Site({"/in.png": Reply(200, PNG), "/on": sends_to(inner)}) as site:
        for replying, url in (
            (opened(ENABLED, client=model, FETCH_ALLOW=""), site.url("/in.png")),
            (opened(ENABLED, client=model), site.url("/on")),
            (opened(ENABLED, client=model), inner),
        ):
            replied = replying.reply(says(images=[url]))
            assert replied.result == AIResult() and replied.failed and replied.path == ("failed",)
        assert site.paths() == ["/on"] and model.calls == 0


def test_a_conversation_may_hold_so_many_pictures_of_so_many_bytes(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(Script(write=[(SAID, SAID)]))
    with Site({"/1.png": Reply(200, PNG)}) as site:
        replying = opened(ENABLED, client=model)
        many = replying.reply(says(images=[site.url("/1.png")] * (MOST_PICTURES + 1)))
        assert many.failed and "21 pictures" in many.reason and site.asked == []
        monkeypatch.setattr("agent.bot.responder.MOST_BYTES", 2 * len(PNG))
        assert "together" in replying.reply(says(images=[site.url("/1.png")] * 3)).reason and model.calls == 0
        assert replying.reply(says(images=[site.url("/1.png")] * 2)).result.reply_text == NIGHT


def test_switched_off_pictures_are_not_even_fetched(opened: Open) -> None:
    model = ScriptedModel(Script(write=[(SAID, SAID)]))
    with Site({}) as site:
        replied = opened(client=model).reply(says(images=[site.url("/gone.png")]))
        assert replied.result.reply_text == NIGHT and site.asked == []
    assert all(isinstance(asked.messages[-1]["content"], str) for asked in model.requests)


def test_pictures_use_up_the_requests_time_too(opened: Open) -> None:
    with Site({"/slow": Reply(200, PNG, ends="stalls")}) as site:
        file = {
            "ai_response": {
                **ENABLED["ai_response"],
                "graph_timeout_seconds": 0.4,
                "image_download_timeout_seconds": 30,
            }
        }
        replied = opened(file, client=ScriptedModel(Script())).reply(says(images=[site.url("/slow")]))
    assert replied.failed and "time" in replied.reason and replied.result == AIResult()
