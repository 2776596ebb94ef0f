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


def open_setup(app, engine):
    """The screen with what an engine needs opened."""
    tester = app("settings")
    tester.session_state[f"settings-{engine}-setup-0"] = True
    return tester.run()


def test_a_known_server_gives_its_address_and_one_save_takes_all(app):
    tester = app("settings")
    assert not tester.exception and "No AI model connected" in shown(tester)
    with ModelServer(models=["first", "second"]) as server:
        tester.selectbox(key="settings-model-server").set_value("Groq").run()
        address = next(one for one in tester.text_input if "OPENAI_BASE_URL" in str(one.key))
        assert address.value == "https://api.groq.com/openai/v1"
        address.set_value(server.url)
        next(one for one in tester.text_input if "OPENAI_API_KEY" in str(one.key)).set_value("model-canary")
        tester.button(key="settings-model-save").click().run()
        client.workbench().worker.model_search.find()
        tester.run()
        assert "first at" in shown(tester) and "model-canary" not in shown(tester)
        assert {"first", "second"} <= set(
            next(one for one in tester.selectbox if one.label == "Main model").options
        )
        assert client.workbench().config.OPENAI_API_KEY.startswith("model-canary http://127.0.0.1")


def test_a_key_typed_for_one_address_goes_to_no_other_that_is_set_meanwhile(app):
    first, second = "http://127.0.0.1:9", "http://127.0.0.1:19"
    server_settings.save_model_setting(client.workbench(), "OPENAI_BASE_URL", f"{first}/v1")
    tester = app("settings")
    field = lambda: next(one for one in tester.text_input if "OPENAI_API_KEY" in str(one.key))  # noqa: E731
    field().set_value("model-canary")
    server_settings.save_model_setting(client.workbench(), "OPENAI_BASE_URL", f"{second}/v1")  # by another
    tester.button(key="settings-model-save").click().run()
    assert "was not saved" in tester.warning[0].value and not client.workbench().config.OPENAI_API_KEY
    assert field().value == "" and "model-canary" not in shown(tester)
    field().set_value("model-canary")
    tester.button(key="settings-model-save").click().run()
    assert f"model-canary {second}" == client.workbench().config.OPENAI_API_KEY


def test_a_saved_password_is_not_in_the_field_of_its_address(app):
    save_engine_setting(client.workbench(), "SEARXNG_URL", "http://ann:pw-canary@127.0.0.1:9/s")
    tester = open_setup(app, "searxng")
    field = next(one for one in tester.text_input if "SEARXNG_URL" in str(one.key))
    assert field.value == "http://…@127.0.0.1:9/s" and "pw-canary" not in shown(tester) + repr(tester.main)
    tester.button(key="settings-searxng-save").click().run()
    assert client.workbench().config.SEARXNG_URL == "http://ann:pw-canary@127.0.0.1:9/s"


def test_an_address_that_is_none_is_refused_with_what_to_write(app):
    tester = open_setup(app, "searxng")
    field = lambda: next(one for one in tester.text_input if "SEARXNG_URL" in str(one.key))  # noqa: E731
    field().set_value("search.lan")
    tester.button(key="settings-searxng-save").click().run()
    assert "needs an address like" in shown(tester)
    assert field().value == "search.lan"


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
            tester.button(key="settings-model-save").click().run()
        client.workbench().worker.model_search.find()
        assert "well at" in shown(tester.run()) and not deaf.closing.is_set()
