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
from agent.settings.reply_config import AIResponseSettings, KBSettings, LLMSettings
from tests.tables import by_table

DEFAULTS = {
    "graph_timeout_seconds": 120.0,
    "project_introduction": "",
    "enable_verification": False,
    "gating_prompt": "",
    "selection_prompt": "",
    "answer_prompt": "",
    "verification_prompt": "",
    "max_sources": 5,
    "max_answer_chars": 1500,
    "include_read_pages": False,
    "store_conversations": False,
    "llm_enable_image": False,
    "llm_image_adapter": "openai",
    "image_download_timeout_seconds": 10.0,
    "image_download_max_retries": 2,
}
OF_MODEL = {
    "base_url": "",
    "api_key": "",
    "model": "",
    "vram_limit": None,
    "structured_output_method": "json_schema",
    "timeout_seconds": 60.0,
    "max_retries": 2,
}


def written(folder: Path, text: str) -> Config:
    path = folder / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return config.read_config({"CONFIG_FILE": str(path)})


def shown(settings: AIResponseSettings) -> dict[str, Any]:
    found = settings.model_dump()
    found["llm"]["api_key"] = settings.llm.api_key.get_secret_value()
    return found


def test_without_a_file_every_key_has_its_default() -> None:
    own = reply_config.read_response_config(config.read_config())
    assert own.path is None and own.kb.sources_dir == "" and own.kb.llm is None
    assert shown(own.ai_response) == {**DEFAULTS, "llm": OF_MODEL}
    assert own.reply_settings.model_dump() == {
        name: value for name, value in DEFAULTS.items() if not name.startswith("image_download")
    }


def test_the_default_file_may_be_missing_and_another_may_not(tmp_path: Path) -> None:
    if not (ROOT / "config.yaml").exists():
        assert (
            reply_config.read_response_config(config.read_config({"CONFIG_FILE": "config.yaml"})).path is None
        )
    with pytest.raises(UsageError, match=r"gone\.yaml cannot be read: No such file"):
        reply_config.read_response_config(config.read_config({"CONFIG_FILE": str(tmp_path / "gone.yaml")}))


def test_every_key_is_read(tmp_path: Path) -> None:
    given = {
        name: {bool: True, float: 7.5, int: 3, str: "words"}[type(value)] for name, value in DEFAULTS.items()
    }
    given |= {"llm_image_adapter": "openai_url", "max_answer_chars": 90}
    model = {
        "base_url": "https://bridge.example/v1",
        "api_key": "k",
        "model": "m",
        "vram_limit": 24,
        "structured_output_method": "function_calling",
        "timeout_seconds": 5.0,
        "max_retries": 0,
    }
    text = yaml.safe_dump(
        {
            "ai_response": {**given, "llm": model},
            "kb": {"sources_dir": "docs", "team_topics_dir": "topics", "llm": model},
        }
    )
    own = reply_config.read_response_config(written(tmp_path, text))
    assert shown(own.ai_response) == {**given, "llm": model}
    assert own.kb.llm is not None and own.kb.llm.model == "m"
    assert reply_config.resolve_folders(written(tmp_path, text)) == (tmp_path / "docs", tmp_path / "topics")


def test_the_example_holds_every_key_with_its_default() -> None:
    example = yaml.safe_load((ROOT / "config.example.yaml").read_text(encoding="utf-8"))
    assert set(example["ai_response"]) == set(AIResponseSettings.model_fields) and set(
        example["ai_response"]["llm"]
    ) == set(LLMSettings.model_fields)
    own = reply_config.read_response_config(config.read_config({"CONFIG_FILE": "config.example.yaml"}))
    assert shown(own.ai_response) == {**DEFAULTS, "llm": OF_MODEL}
    assert set(example["kb"]) == set(KBSettings.model_fields) - {"llm"} and own.kb == KBSettings()
    assert reply_config.resolve_folders(config.read_config({"CONFIG_FILE": "config.example.yaml"})) == (
        None,
        None,
    )


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
    key, *others = [config.format_value(getattr(values, name)) for name in ENVIRONMENT]
    assert not key or " " in key
    return [use_key(values, "OPENAI_API_KEY", values.OPENAI_BASE_URL), *others]


def test_the_file_goes_before_the_environment() -> None:
    assert over() == list(ENVIRONMENT.values())
    assert over(model="own") == ["env-key", "https://env.example/v1", "own", "", "9"]
    assert over(api_key="own-key", timeout_seconds=3) == [
        "own-key",
        "https://env.example/v1",
        "env-model",
        "env-fast",
        "3",
    ]


def test_a_key_of_the_environment_is_never_sent_to_another_server() -> None:
    assert over(base_url="https://own.example/v1") == ["", "https://own.example/v1", "", "", "9"]
    assert over(base_url="https://env.example/v1/")[0] == "env-key"
    assert over(base_url="https://own.example/v1", api_key="own-key", model="own")[:3] == [
        "own-key",
        "https://own.example/v1",
        "own",
    ]


def test_folders_of_the_environment_stand_in_and_a_team_folder_inside_is_found(tmp_path: Path) -> None:
    (tmp_path / "docs" / "team").mkdir(parents=True)
    environment = {"KB_DIR": str(tmp_path / "docs"), "CONFIG_FILE": ""}
    assert reply_config.resolve_folders(config.read_config(environment)) == (
        tmp_path / "docs",
        tmp_path / "docs" / "team",
    )
    assert reply_config.resolve_folders(config.read_config()) == (None, None)
