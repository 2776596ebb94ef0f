"""Engines and model servers as a person sets them up: at once, encrypted, for the next start too, and never
against what the environment says."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator

import pytest

from agent.actions.server_settings import (
    EMBEDDING_SETTINGS,
    EngineStatus,
    describe_field,
    list_engines,
    save_engine_setting,
    save_model_setting,
    switch_engine,
)
from agent.errors import UsageError
from agent.settings.config import read_config
from agent.settings.key_addresses import use_key
from agent.settings.saved import SAVED_FILE, make_key
from agent.types import ENGINES, Settings
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.engine_answers import ANSWERS, reply
from tests.web.model_server import ModelServer
from tests.web.saved_keys import save_key
from tests.web.site import Site

BRAVE = ("BRAVE_API_KEY", "https://api.search.brave.com/res/v1/web/search")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    monkeypatch.delenv("EMBEDDING_MODEL")
    made = Workbench()
    yield made
    made.shutdown()


def status(bench: Workbench, name: str) -> EngineStatus:
    return next(one for one in list_engines(bench) if one.profile.name == name)


def test_every_engine_is_listed_with_what_it_lacks(bench: Workbench) -> None:
    assert [one.profile.name for one in list_engines(bench)] == [engine.name for engine in ENGINES]
    assert status(bench, "wikipedia").state == "not asked yet"
    brave, searxng = status(bench, "brave"), status(bench, "searxng")
    assert (brave.state, brave.needed) == ("needs a key", ["BRAVE_API_KEY"])
    assert (searxng.state, searxng.needed) == ("needs an address", ["SEARXNG_URL"])


def test_a_key_holds_at_once_and_at_the_next_start_in_a_file_of_its_owner(bench: Workbench) -> None:
    save_key(bench, "BRAVE_API_KEY", " key-1 ", "brave")
    assert "brave" in bench.worker.world("live").engines and use_key(bench.config, *BRAVE) == "key-1"
    assert use_key(read_config(), *BRAVE) == "key-1" and "key-1" in read_config().secrets
    path = bench.config.data_folder / SAVED_FILE
    assert "key-1" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    field = describe_field(bench, "BRAVE_API_KEY")
    assert (field.is_set, field.is_secret, field.is_fixed, field.value) == (True, True, False, "")
    save_engine_setting(bench, "BRAVE_API_KEY", "", "brave")
    assert json.loads(path.read_text()) == {} and "brave" in bench.worker.world("live").absent


def test_an_engine_is_switched_off_and_on(bench: Workbench) -> None:
    switch_engine(bench, "arxiv", on=False)
    switch_engine(bench, "crossref", on=False)
    assert status(bench, "arxiv").state == "off" and read_config().ENGINES_OFF == ["arxiv", "crossref"]
    switch_engine(bench, "arxiv", on=True)
    assert status(bench, "arxiv").is_on and read_config().ENGINES_OFF == ["crossref"]


def test_what_the_environment_sets_is_changed_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "from-outside")
    monkeypatch.setenv("ENGINES_OFF", "arxiv")
    bench = Workbench()
    try:
        assert status(bench, "tavily").fields[0].is_fixed and status(bench, "wikipedia").is_fixed
        with pytest.raises(UsageError, match="environment"):
            save_key(bench, "TAVILY_API_KEY", "other", "tavily")
        with pytest.raises(UsageError, match="ENGINES_OFF is set in the environment"):
            switch_engine(bench, "arxiv", on=True)
        assert use_key(bench.config, "TAVILY_API_KEY", "https://api.tavily.com/search") == "from-outside"
    finally:
        bench.shutdown()


@by_table
def test_what_cannot_be_is_refused_and_nothing_is_written(
    bench: Workbench, name: str, value: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        save_engine_setting(bench, name, value)
    assert not (bench.config.data_folder / SAVED_FILE).exists()


def test_the_password_in_an_address_is_not_shown_again_and_stays_when_it_is_saved_so(
    bench: Workbench,
) -> None:
    url = "http://ann:pw-canary@search.lan:8080/s"
    save_engine_setting(bench, "SEARXNG_URL", url, "searxng")
    shown = describe_field(bench, "SEARXNG_URL").value
    assert shown == "http://…@search.lan:8080/s"
    save_engine_setting(bench, "SEARXNG_URL", shown, "searxng")
    assert bench.config.SEARXNG_URL == read_config().SEARXNG_URL == url
    for other in (
        "http://…@evil.lan:8080/s",
        "https://…@search.lan:8080/s",
        "http://…@search.lan:8080/other",
    ):
        with pytest.raises(UsageError, match="type it again"):
            save_engine_setting(bench, "SEARXNG_URL", other, "searxng")
    assert url == bench.config.SEARXNG_URL
    save_engine_setting(bench, "SEARXNG_URL", "http://search.lan:8080/s", "searxng")
    assert read_config().SEARXNG_URL == "http://search.lan:8080/s"


def test_a_damaged_file_is_named(bench: Workbench) -> None:
    path = bench.config.data_folder / SAVED_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[not json")
    with pytest.raises(UsageError, match=SAVED_FILE):
        read_config()
    path.unlink()


def test_a_change_forgets_how_that_engine_answered_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with Site({"/search": reply(ANSWERS["openalex"]), "/arxiv": reply("no", 429)}) as site:
        urls = f"openalex={site.url('/search')},arxiv={site.url('/arxiv')}"
        monkeypatch.setenv("ENGINE_URLS", urls)
        bench = Workbench()
        assert bench.check_engine("openalex")[0] and not bench.check_engine("arxiv")[0]
    states = [status(bench, name).state for name in ("openalex", "arxiv")]
    save_key(bench, "OPENALEX_API_KEY", "key-2", "openalex")
    assert states == ["works", "resting"]
    assert [status(bench, name).state for name in ("openalex", "arxiv")] == ["not asked yet", "resting"]
    assert "asks for a pause" in status(bench, "arxiv").health
    bench.shutdown()


def test_a_model_is_used_at_once_and_at_the_next_start(bench: Workbench) -> None:
    assert not bench.active_configuration().model and not bench.check_model()[0]
    with ModelServer(lambda request: '{"ok": true}', models=["first", "second"]) as server:
        save_model_setting(bench, "OPENAI_BASE_URL", server.url)
        save_key(bench, "OPENAI_API_KEY", " sk-canary ")
        assert bench.check_model()[0] and bench.active_configuration().model == "first"
        save_model_setting(bench, "MODEL", "second")
        assert bench.active_configuration().model == "second"
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer sk-canary"}
    assert use_key(read_config(), "OPENAI_API_KEY", server.url) == "sk-canary"
    assert "canary" not in (bench.config.data_folder / SAVED_FILE).read_text()
    key = describe_field(bench, "OPENAI_API_KEY")
    assert (key.is_set, key.value, key.is_fixed, key.is_held) == (True, "", False, False)


def test_a_run_under_way_uses_it_from_its_next_step(bench: Workbench) -> None:
    run = bench.start("How many huts are there?", Settings(world="demo", until="review", mode="auto"))
    with ModelServer(lambda request: "nothing of use", models=["late"]) as server:

        def set_up() -> None:
            if not bench.config.OPENAI_BASE_URL:
                assert not server.requests
                save_model_setting(bench, "OPENAI_BASE_URL", server.url)

        bench.drive(run, set_up)
        assert server.requests


def test_search_by_meaning_follows_the_setting(bench: Workbench) -> None:
    save_model_setting(bench, "EMBEDDING_MODEL", "off")
    assert bench.check_embedder() == (False, "Search by meaning is switched off (EMBEDDING_MODEL).")
    save_model_setting(bench, "EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1")
    save_model_setting(bench, "EMBEDDING_MODEL", "some-embedder")
    assert bench.active_configuration().embedding_detail == "some-embedder at 127.0.0.1:9."
    assert bench.check_embedder()[0] is False
    assert [describe_field(bench, name).is_set for name in EMBEDDING_SETTINGS] == [True, True, False]


@by_table
def test_what_cannot_be_of_a_model_is_refused(bench: Workbench, name: str, value: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        save_model_setting(bench, name, value)
