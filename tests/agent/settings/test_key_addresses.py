"""A key goes to the server it was given for: whoever changes the address, and wherever the key comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.actions.server_settings import describe_field, list_engines, save_model_setting
from agent.errors import UsageError
from agent.llm.embed import find_embedder
from agent.settings.config import personalize, read_config
from agent.settings.key_addresses import KEY_ADDRESSES, bind_key, explain_unused_key, find_address, use_key
from agent.settings.reply_config import LLMSettings, apply_llm_settings
from agent.settings.saved import SAVED_FILE, make_key
from agent.web.engines.api_engines import APIS
from agent.web.engines.http_api import ApiEngine
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.model_server import ModelServer
from tests.web.saved_keys import save_key

KEY, URL = "OPENAI_API_KEY", "OPENAI_BASE_URL"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    made = Workbench()
    yield made
    made.shutdown()


@pytest.fixture
def listener() -> Iterator[ModelServer]:
    with ModelServer(lambda request: '{"ok": true}', models=["theirs"]) as server:
        yield server


def test_another_address_gets_no_saved_key_and_its_own_gets_it_again(
    bench: Workbench, listener: ModelServer
) -> None:
    with ModelServer(lambda request: '{"ok": true}', models=["ours"]) as ours:
        save_model_setting(bench, URL, ours.url)
        save_key(bench, KEY, "sk-canary")
        assert bench.check_model()[0] and ours.keys - {""} == {"Bearer sk-canary"}
        save_model_setting(bench, URL, listener.url)
        assert bench.check_model()[0] and listener.keys == {""}
        name = listener.url.removesuffix("/v1")
        told = f"was given for {ours.url.removesuffix('/v1')}, so it is not used: give one for {name}, or set"
        assert told in describe_field(bench, KEY).unused and told in bench.worker.model_search.find().detail
        assert told in Workbench().worker.model_search.find().detail, "after a restart, too"
        assert listener.keys == {""}
        save_model_setting(bench, URL, ours.url)
        assert not describe_field(bench, KEY).unused and bench.check_model()[0]
        assert ours.keys - {""} == {"Bearer sk-canary"}


def test_a_key_without_its_address_asks_nobody(bench: Workbench, listener: ModelServer) -> None:
    save_model_setting(bench, URL, listener.url)
    save_key(bench, KEY, "sk-canary")
    save_model_setting(bench, URL, "")
    asked = len(listener.paths)
    assert "give one for api.openai.com" in bench.worker.model_search.find().detail
    assert not bench.check_model()[0] and len(listener.paths) == asked


def test_a_key_of_the_environment_belongs_to_its_address(
    monkeypatch: pytest.MonkeyPatch, listener: ModelServer
) -> None:
    monkeypatch.setenv(KEY, "sk-outside")
    made = Workbench()
    save_model_setting(made, URL, listener.url)
    assert made.check_model()[0] and Workbench().check_model()[0] and listener.keys == {""}
    assert "was given for api.openai.com" in Workbench().worker.model_search.find().detail
    monkeypatch.setenv(URL, listener.url)
    assert Workbench().check_model()[0] and listener.keys == {"", "Bearer sk-outside"}
    made.shutdown()


def test_the_environment_moves_no_saved_key(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, listener: ModelServer
) -> None:
    save_key(bench, KEY, "sk-canary")
    monkeypatch.setenv(URL, listener.url)
    monkeypatch.setenv("ENGINE_URLS", f"brave={listener.url}")
    monkeypatch.setenv("GOOGLE_ENDPOINT", listener.url)
    read_config().saved.save("BRAVE_API_KEY", bind_key("b-canary", "https://api.search.brave.com"))
    read_config().saved.save("GOOGLE_API_KEY", bind_key("g-canary", "https://customsearch.googleapis.com"))
    read_config().saved.save("GOOGLE_CSE_ID", "cx")
    again = Workbench()
    assert again.check_model()[0] and listener.keys == {""}
    for name in ("brave", "google"):
        assert "give one for http://127.0.0.1" in again.worker.world("live").absent[name]
        status = next(one for one in list_engines(again) if one.profile.name == name)
        assert status.state == "needs a key" and status.fields[0].unused
    again.shutdown()


def test_a_key_of_a_person_stays_with_the_address_of_the_server_then(bench: Workbench, tmp_path) -> None:
    server = read_config({URL: "https://one.example/v1"})
    own = personalize(server, tmp_path)
    own.saved.save(KEY, bind_key("sk-bo", find_address(own, KEY)))
    assert use_key(personalize(server, tmp_path), KEY, "https://one.example/v1") == "sk-bo"
    moved = personalize(read_config({URL: "https://two.example/v1", KEY: "sk-server"}), tmp_path)
    assert [use_key(moved, KEY, f"https://{name}.example/v1") for name in ("one", "two")] == ["sk-bo", ""]
    assert "was given for one.example" in explain_unused_key(moved, KEY)


def test_a_saved_key_that_names_no_server_is_not_used(bench: Workbench, tmp_path) -> None:
    folder = bench.config.data_folder
    for where in (folder, tmp_path):
        (where / SAVED_FILE).write_text(json.dumps({KEY: "sk-old"}))
    for config in (read_config(), personalize(read_config(), tmp_path)):
        assert use_key(config, KEY, "https://api.openai.com/v1") == ""
        assert "was given for no server" in explain_unused_key(config, KEY) and "sk-old" in config.secrets


def test_a_key_of_the_file_of_reply_stays_with_the_address_of_file_or_environment(bench: Workbench) -> None:
    save_model_setting(bench, URL, "http://127.0.0.1:9/v1")
    plain = apply_llm_settings(bench.config, LLMSettings(api_key="sk-file"))
    assert use_key(plain, KEY, "http://127.0.0.1:9/v1") == ""
    assert use_key(plain, KEY, "https://api.openai.com/v1") == "sk-file"
    named = apply_llm_settings(bench.config, LLMSettings(api_key="sk-file", base_url="https://own.example"))
    assert use_key(named, KEY, "https://own.example/v1") == "sk-file"


def test_a_key_is_saved_for_the_address_that_its_field_named(bench: Workbench, listener: ModelServer) -> None:
    save_model_setting(bench, URL, "http://127.0.0.1:9/v1")
    drawn = describe_field(bench, KEY)
    assert drawn.address == "http://127.0.0.1:9"
    save_model_setting(bench, URL, listener.url)  # meanwhile
    for address in (drawn.address, ""):
        with pytest.raises(UsageError, match="was not saved: it was given for"):
            save_model_setting(bench, KEY, "sk-canary", address)
    assert bench.check_model()[0] and listener.keys == {""} and not read_config().OPENAI_API_KEY
    save_model_setting(bench, KEY, "sk-canary", describe_field(bench, KEY).address)
    assert bench.check_model()[0] and listener.keys == {"", "Bearer sk-canary"}
    save_model_setting(bench, KEY, "", drawn.address)
    assert not read_config().OPENAI_API_KEY, "removing one needs no address"


def test_embeddings_follow_the_same_rule() -> None:
    def sent(**more: str) -> set[str]:
        """The keys that the server at two.example is told."""
        with ModelServer(embeds=lambda texts: [[1.0] for _ in texts]) as server:
            more = {name: server.url if value == "two" else value for name, value in more.items()}
            found = find_embedder(read_config({"EMBEDDING_MODEL": "e", KEY: "chat", **more}))
            assert found.embedder
            found.embedder.embed(["x"], query=True)
            return server.keys

    assert sent(**{URL: "two"}) == {"Bearer chat"}
    assert sent(**{URL: "https://one.example/v1", "EMBEDDING_BASE_URL": "two"}) == {""}
    assert sent(EMBEDDING_API_KEY="own", EMBEDDING_BASE_URL="two") == {"Bearer own"}


@by_table
def test_scheme_host_and_port_decide(address: str, is_same: bool) -> None:
    config = read_config({KEY: "k", URL: "https://one.example/v1"})
    assert use_key(config, KEY, address) == ("k" if is_same else "")
    assert use_key(read_config({KEY: "k", URL: "nonsense"}), KEY, address) == ""


def test_every_key_of_an_engine_names_the_address_of_its_adapter() -> None:
    for engine in [ApiEngine(read_config(), name) for name in APIS]:
        for name in {*engine.profile.settings} & KEY_ADDRESSES.keys():
            assert engine.url.startswith(f"{find_address(read_config(), name)}/")
