"""The model servers as a person sets them up: at once, encrypted, and never against the environment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.actions.server_settings import EMBEDDING_SETTINGS, describe_field, save_model_setting
from agent.errors import UsageError
from agent.settings.config import read_config
from agent.settings.key_addresses import use_key
from agent.settings.saved import SAVED_FILE, make_key
from agent.types import Settings
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.model_server import ModelServer
from tests.web.saved_keys import save_key


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    monkeypatch.delenv("EMBEDDING_MODEL")
    made = Workbench()
    yield made
    made.shutdown()


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
def test_what_cannot_be_is_refused(bench: Workbench, name: str, value: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        save_model_setting(bench, name, value)
