"""The Settings screen: what is active, really checked, and no secret on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.actions import server_settings
from agent.actions.server_settings import save_engine_setting
from agent.llm import detect
from agent.settings.saved import make_key
from pages.widgets.shell import client
from tests.pages.conftest import shown
from tests.web.model_server import ModelServer, stalls

pytestmark = pytest.mark.slow


def test_everything_active_is_named_and_nothing_is_hidden(app):
    tester = app("settings")
    assert not tester.exception
    text = shown(tester)
    for words in (
        "No model",
        "DuckDuckGo",
        "Google",
        "GOOGLE_API_KEY",
        "demo",
        "TOUCHSTONE_DATA",
        "Working time",
    ):
        assert words in text, words


def test_a_key_typed_for_one_address_goes_to_no_other_that_is_set_meanwhile(app):
    first, second = "http://127.0.0.1:9", "http://127.0.0.1:19"
    server_settings.save_model_setting(client.workbench(), "OPENAI_BASE_URL", f"{first}/v1")
    tester = app("settings")
    assert f"Sent to {first} and nowhere else" in shown(tester).replace("\\", "")
    tester.text_input(key=f"settings-OPENAI_API_KEY-False-{first}").set_value("model-canary")
    server_settings.save_model_setting(client.workbench(), "OPENAI_BASE_URL", f"{second}/v1")  # by another
    tester.button(key="settings-OPENAI_API_KEY-save").click().run()
    assert "was not saved" in tester.warning[0].value and not client.workbench().config.OPENAI_API_KEY
    again = tester.text_input(key=f"settings-OPENAI_API_KEY-False-{second}")
    assert again.value == "" and "model-canary" not in shown(tester)
    again.set_value("model-canary")
    tester.button(key="settings-OPENAI_API_KEY-save").click().run()
    assert f"model-canary {second}" == client.workbench().config.OPENAI_API_KEY


def test_a_saved_password_is_not_in_the_field_of_its_address(app):
    save_engine_setting(client.workbench(), "SEARXNG_URL", "http://ann:pw-canary@127.0.0.1:9/s")
    tester = app("settings")
    field = next(one for one in tester.text_input if "SEARXNG_URL" in str(one.key))
    assert field.value == "http://…@127.0.0.1:9/s" and "pw-canary" not in shown(tester) + repr(tester.main)
    tester.button(key="settings-SEARXNG_URL-searxng-save").click().run()
    assert client.workbench().config.SEARXNG_URL == "http://ann:pw-canary@127.0.0.1:9/s"


def test_an_address_that_is_none_is_refused_with_what_to_write(app):
    tester = app("settings")
    tester.text_input(key="settings-SEARXNG_URL-searxng-False-").set_value("search.lan")
    tester.button(key="settings-SEARXNG_URL-searxng-save").click().run()
    assert "needs an address like" in shown(tester)
    assert tester.text_input(key="settings-SEARXNG_URL-searxng-False-").value == "search.lan"


def test_the_screen_says_how_keys_are_kept(app, monkeypatch):
    assert "forgotten when the server stops" in shown(app("settings"))
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    client.close()
    assert "encrypted with the key from TOUCHSTONE_SECRET_KEY" in shown(app("settings"))


@pytest.mark.parametrize("screen", ["", "settings", "site", "collect", "check_text", "reply", "batch"])
def test_no_screen_waits_for_a_model_server(app, monkeypatch, screen):
    monkeypatch.setattr(detect, "MODEL_LIST", replace(detect.MODEL_LIST, seconds=600.0))
    with ModelServer() as server:
        server.models = stalls()
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        client.close()
        tester = app(screen)
        chosen = [option for box in tester.selectbox for option in box.options]
        assert not tester.exception and "model being looked for" in f"{shown(tester)} {chosen}"
        assert server.paths == ["/v1/models"] and not server.closing.is_set()


def test_an_address_is_mended_while_its_server_does_not_answer(app, monkeypatch):
    monkeypatch.setattr(detect, "MODEL_LIST", replace(detect.MODEL_LIST, seconds=600.0))
    with ModelServer() as deaf, ModelServer(models=["well"]) as server:
        deaf.models = stalls()
        client.close()
        tester = app("settings")
        for url in (deaf.url, server.url):
            field = next(one for one in tester.text_input if "OPENAI_BASE_URL" in str(one.key))
            field.set_value(url)
            tester.button(key="settings-OPENAI_BASE_URL-save").click().run()
        client.workbench().worker.model_search.find()
        assert "well at" in shown(tester.run()) and not deaf.closing.is_set()
