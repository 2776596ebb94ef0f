"""Settings from outside: which source wins, what an empty value means, wrong values, and no secret in a
print."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.settings import config
from agent.workbench import Workbench
from tests.tables import by_table


def test_the_first_source_wins(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text(
        "MODEL=dotenv\nFAST_MODEL=dotenv\nWORKERS=9\nSTRANGE=1\n", encoding="utf-8"
    )
    (tmp_path / "own.yaml").write_text(
        "ai_response: {max_sources: 3}\nMODEL: yaml\nSTEP_GAP: 2\nFETCH_ALLOW: [a.example]\n",
        encoding="utf-8",
    )
    monkeypatch.setitem(config.Config.model_config, "env_file", tmp_path / ".env")
    monkeypatch.setenv("CONFIG_FILE", str(tmp_path / "own.yaml"))
    monkeypatch.setenv("FAST_MODEL", "environment")
    monkeypatch.setenv("WORKERS", "8")
    read = config.read_config({"WORKERS": "7"})
    assert (read.WORKERS, read.FAST_MODEL, read.MODEL, read.STEP_GAP) == (7, "environment", "dotenv", 2.0)
    assert read.FETCH_ALLOW == ["a.example"] and read.FETCH_TIMEOUT == 30


def test_an_empty_text_is_a_value_except_for_the_folder(monkeypatch):
    monkeypatch.setenv("OLLAMA_URL", "  ")
    monkeypatch.setenv("TOUCHSTONE_DATA", "")
    read = config.read_config()
    assert read.OLLAMA_URL == "", "empty means: no Ollama"
    assert read.data_folder == config.ROOT / "data", "never the checkout itself"


@pytest.mark.parametrize("name", ["WORKERS", "FETCH_GAP", "CONVERSATIONAL_MODE", "DDG_BACKEND"])
def test_an_empty_number_or_switch_is_its_default(name):
    assert getattr(config.read_config({name: " "}), name) == config.SETTINGS[name].default


@by_table
def test_a_switch_is_on_or_off(typed, is_on):
    assert config.read_config({"CONVERSATIONAL_MODE": f" {typed} "}).CONVERSATIONAL_MODE is is_on


@by_table
def test_a_wrong_value_is_refused_at_the_start(name, value, message, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message):
        Workbench()


def test_a_level_that_yaml_reads_as_a_number_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("LOG_LEVEL: 10\n")
    with pytest.raises(UsageError, match="LOG_LEVEL: Input should be"):
        config.read_config({"CONFIG_FILE": str(tmp_path / "own.yaml")})


@pytest.mark.parametrize(
    "name", [name for name, field in config.SETTINGS.items() if field.annotation in (int, float)]
)
@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e300"])
def test_every_number_has_a_range(name, value):
    with pytest.raises(UsageError, match=f"{name}: Input should be"):
        config.read_config({name: value})


def test_words_and_the_data_folder(tmp_path):
    read = config.read_config({"FETCH_ALLOW": " a.example , ,10.0.0.0/8", "TOUCHSTONE_DATA": str(tmp_path)})
    assert read.FETCH_ALLOW == ["a.example", "10.0.0.0/8"]
    assert read.data_folder == tmp_path and read.database_url == f"sqlite:///{tmp_path / 'touchstone.db'}"
    assert config.read_config({"DATABASE_URL": "postgresql://db/x"}).database_url == "postgresql://db/x"
    assert config.read_config({"TOUCHSTONE_DATA": "elsewhere"}).data_folder == config.ROOT / "elsewhere"
    assert config.resolve_folder("docs") == config.ROOT / "docs" and config.resolve_folder("") is None


def test_a_secret_is_not_printed():
    read = config.read_config({"OPENAI_API_KEY": "CANARY", "DATABASE_URL": "postgresql://me:CANARY2@db/t"})
    assert read.OPENAI_API_KEY == "CANARY https://api.openai.com" and "CANARY" not in repr(read) + str(read)
    assert read.secrets == ["CANARY", "CANARY2"]


def test_every_setting_has_a_line_of_help_and_no_secret_a_default():
    for name, field in config.SETTINGS.items():
        assert field.description and "\n" not in field.description
        assert not (name in config.SECRETS and field.default)
