"""Settings from outside: who wins, what an empty value means, numbers that are none, and no secret in a
print."""

from __future__ import annotations

import pytest

from agent import config
from agent.errors import UsageError
from agent.workbench import Workbench


def test_the_later_wins(monkeypatch):
    monkeypatch.setattr(
        config,
        "dotenv_values",
        lambda _path: {"MODEL": "from-file", "FAST_MODEL": "from-file", "WORKERS": "9"},
    )
    monkeypatch.setenv("FAST_MODEL", "from-environment")
    monkeypatch.setenv("WORKERS", "8")
    read = config.read_config({"WORKERS": "7"})
    assert (read["MODEL"], read["FAST_MODEL"], read["WORKERS"]) == ("from-file", "from-environment", "7")


def test_defaults_stand_for_what_nobody_set():
    read = config.read_config()
    assert read["FETCH_TIMEOUT"] == "30" and read["MODEL"] == ""
    with pytest.raises(KeyError):
        read["NO_SUCH_SETTING"]


def test_an_empty_value_is_a_value_except_for_the_folder(monkeypatch):
    monkeypatch.setenv("OLLAMA_URL", "  ")
    monkeypatch.setenv("TOUCHSTONE_DATA", "")
    read = config.read_config()
    assert read["OLLAMA_URL"] == "", "empty means: look nowhere"
    assert read.data_folder == config.ROOT / "data", "never the checkout itself"


def test_numbers_that_are_none_fall_back(monkeypatch):
    monkeypatch.setenv("FETCH_GAP", "soon")
    monkeypatch.setenv("FETCH_MAX_MB", "2.5")
    assert (
        config.read_config().get_number("FETCH_GAP") == 1.0
        and config.read_config().get_number("FETCH_MAX_MB") == 2.5
    )


@pytest.mark.parametrize(
    ("said", "is_on"),
    [
        ("true", True),
        ("YES", True),
        ("on", True),
        ("1", True),
        ("", True),
        ("false", False),
        ("No", False),
        ("off", False),
        ("0", False),
    ],
)
def test_a_switch_is_on_or_off(said, is_on):
    assert config.read_config({"CONVERSATIONAL_MODE": said}).get_bool("CONVERSATIONAL_MODE") is is_on


def test_a_switch_that_says_neither_is_refused_at_the_start():
    with pytest.raises(UsageError, match="CONVERSATIONAL_MODE is 'nein': say true or false"):
        Workbench(config.read_config({"CONVERSATIONAL_MODE": "nein"}))


def test_words_and_the_data_folder(tmp_path):
    read = config.read_config({"FETCH_ALLOW": " a.example , ,10.0.0.0/8", "TOUCHSTONE_DATA": str(tmp_path)})
    assert read.get_list("FETCH_ALLOW") == ["a.example", "10.0.0.0/8"]
    assert read.data_folder == tmp_path and read.database_url == f"sqlite:///{tmp_path / 'touchstone.db'}"
    assert config.read_config({"DATABASE_URL": "postgresql://db/x"}).database_url == "postgresql://db/x"
    assert config.read_config({"TOUCHSTONE_DATA": "elsewhere"}).data_folder == config.ROOT / "elsewhere"


def test_a_secret_is_not_printed():
    read = config.read_config({"OPENAI_API_KEY": "CANARY"})
    assert read["OPENAI_API_KEY"] == "CANARY" and "CANARY" not in repr(read) and "CANARY" not in str(read)


def test_every_setting_is_told_in_a_line_and_defaults_can_be_read():
    assert len({setting.name for setting in config.SETTINGS}) == len(config.SETTINGS)
    for setting in config.SETTINGS:
        assert setting.help and "\n" not in setting.help
        assert not (setting.secret and setting.default)
