"""The settings of `reply`: the seed's keys and defaults, what is refused and how that is told, and what goes
before the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.errors import UsageError
from agent.settings import config, reply_config
from agent.settings.config import ROOT, Config
from agent.settings.key_addresses import use_key
from agent.settings.reply_config import AIResponseSettings, KBSettings, LLMSettings, ResponseConfig
from tests.tables import by_table

EXAMPLE = "config.example.yaml"
OF_MODEL = {"base_url": "https://bridge.example/v1", "api_key": "k", "model": "m", "vram_limit": 24}
OF_MODEL |= {"structured_output_method": "function_calling", "timeout_seconds": 5.0, "max_retries": 0}


def read(**environment: str) -> ResponseConfig:
    return reply_config.read_response_config(config.read_config(environment))


def written(folder: Path, text: str) -> Config:
    path = folder / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return config.read_config({"CONFIG_FILE": str(path)})


def shown(settings: AIResponseSettings) -> dict[str, Any]:
    found = settings.model_dump()
    found["llm"]["api_key"] = settings.llm.api_key.get_secret_value()
    return found


def test_without_a_file_and_with_the_example_every_key_has_its_default() -> None:
    """The example has the keys and values of the seed."""
    stated = yaml.safe_load((ROOT / EXAMPLE).read_text(encoding="utf-8"))
    stated["ai_response"]["llm"]["vram_limit"] = None
    for own in (read(), read(CONFIG_FILE=EXAMPLE)):
        assert shown(own.ai_response) == stated["ai_response"]
        assert own.kb == KBSettings() == KBSettings(**stated["kb"]) and own.kb.llm is None
    assert read().path is None and set(stated["kb"]) == set(KBSettings.model_fields) - {"llm"}
    plain = {name: value for name, value in stated["ai_response"].items() if "download" not in name}
    assert own.reply_settings.model_dump() | {"llm": None} == plain | {"llm": None}
    assert reply_config.resolve_folders(config.read_config({"CONFIG_FILE": EXAMPLE})) == (None, None)


def test_the_default_file_may_be_missing_and_another_may_not(tmp_path: Path) -> None:
    if not (ROOT / "config.yaml").exists():
        assert read(CONFIG_FILE="config.yaml").path is None
    with pytest.raises(UsageError, match=r"gone\.yaml cannot be read: No such file"):
        read(CONFIG_FILE=str(tmp_path / "gone.yaml"))


def test_every_key_is_read(tmp_path: Path) -> None:
    plain = shown(AIResponseSettings())
    other = {bool: True, float: 7.5, int: 3, str: "words", dict: OF_MODEL}
    given = {name: other[type(value)] for name, value in plain.items()}
    given |= {"llm_image_adapter": "openai_url", "max_answer_chars": 90}
    kb = {"sources_dir": "docs", "team_topics_dir": "topics", "llm": OF_MODEL}
    made = written(tmp_path, yaml.safe_dump({"ai_response": given, "kb": kb}))
    own = reply_config.read_response_config(made)
    assert shown(own.ai_response) == given and own.kb.llm is not None and own.kb.llm.model == "m"
    assert reply_config.resolve_folders(made) == (tmp_path / "docs", tmp_path / "topics")


@by_table
def test_what_does_not_fit_is_told_with_its_key_and_what_it_may_be(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        reply_config.read_response_config(written(tmp_path, text))


def test_a_key_with_nothing_behind_it_has_its_default(tmp_path: Path) -> None:
    own = reply_config.read_response_config(
        written(tmp_path, "ai_response:\n  graph_timeout_seconds:\n  llm:\n    vram_limit:\nkb:\n")
    )
    assert own.reply_settings.graph_timeout_seconds == 120.0 and own.ai_response.llm.vram_limit is None


def test_a_secret_is_never_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as wrong:
        reply_config.read_response_config(written(tmp_path, "ai_response: {llm: {api_key: [sk-hush-1234]}}"))
    assert "api_key" in str(wrong.value) and "hush" not in str(wrong.value)
    own = reply_config.read_response_config(written(tmp_path, "ai_response: {llm: {api_key: sk-hush-1234}}"))
    assert "hush-1234" not in repr(own)


ENVIRONMENT = {
    "OPENAI_API_KEY": "env-key",
    "OPENAI_BASE_URL": "https://env.example/v1",
    "MODEL": "env-model",
    "FAST_MODEL": "env-fast",
    "MODEL_TIMEOUT": "9",
}


def over(**llm: Any) -> list[str]:
    values = reply_config.apply_llm_settings(config.read_config(ENVIRONMENT), LLMSettings(**llm))
    key, *others = [str(getattr(values, name)).removesuffix(".0") for name in ENVIRONMENT]
    assert not key or " " in key
    return [use_key(values, "OPENAI_API_KEY", values.OPENAI_BASE_URL), *others]


OWN, ENV = "https://own.example/v1", "https://env.example/v1"


@pytest.mark.parametrize(
    ("llm", "used"),
    [
        ({}, [*ENVIRONMENT.values()]),
        ({"model": "own"}, ["env-key", ENV, "own", "", "9"]),
        ({"api_key": "own-key", "timeout_seconds": 3}, ["own-key", ENV, "env-model", "env-fast", "3"]),
        ({"base_url": OWN}, ["", OWN, "", "", "9"]),
        ({"base_url": f"{ENV}/"}, [*ENVIRONMENT.values()]),
        ({"base_url": OWN, "api_key": "own-key", "model": "own"}, ["own-key", OWN, "own", "", "9"]),
    ],
)
def test_the_file_goes_before_the_environment_whose_key_goes_to_no_other_server(llm, used) -> None:
    assert over(**llm) == used


def test_folders_of_the_environment_stand_in_and_a_team_folder_inside_is_found(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "team").mkdir(parents=True)
    found = reply_config.resolve_folders(config.read_config({"KB_DIR": str(docs), "CONFIG_FILE": ""}))
    assert found == (docs, docs / "team")
    assert reply_config.resolve_folders(config.read_config()) == (None, None)
