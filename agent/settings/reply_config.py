"""The settings of `reply`: the sections `ai_response` and `kb` of the file that CONFIG_FILE names.

Without a file every key has its default; a wrong key or value is a UsageError that names it and what it may
be. `ai_response.llm` overrides the environment for `reply` alone; `kb.llm` describes the sources of the
library and does not change how `reply` answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError

from agent.errors import UsageError, describe_faults
from agent.settings.config import ROOT, SETTINGS, Config, read_config_file, resolve_folder
from agent.settings.key_addresses import bind_key, find_address
from agent.types import ReplySettings

DEMO_KB = ROOT / "demo" / "kb"


class Section(BaseModel):
    """A section of the file; an unknown key is refused."""

    model_config = ConfigDict(extra="forbid")


class LLMSettings(Section):
    """The connection to a model: an OpenAI-compatible server, e.g. the Crynux bridge."""

    base_url: str = ""
    """Address of an OpenAI-compatible server; a key of the environment is never sent to it."""
    api_key: SecretStr = SecretStr("")
    """Its key."""
    model: str = ""
    """The model's name."""
    vram_limit: float | None = Field(default=None, gt=0, le=10_000, allow_inf_nan=False)
    """Gigabytes of GPU memory the model needs, for servers that ask (Crynux); empty: not sent."""
    structured_output_method: Literal["json_schema", "function_calling"] = "json_schema"
    """How a reply in a given shape is requested."""
    timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    """Seconds one model call may take."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """Retries of one model call after temporary failures."""


class AIResponseSettings(ReplySettings):
    """The section `ai_response`."""

    llm: LLMSettings = Field(default_factory=LLMSettings)
    image_download_timeout_seconds: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    """Seconds for one try to fetch a picture."""
    image_download_max_retries: int = Field(default=2, ge=0, le=10)
    """Retries of such a fetch."""


class KBSettings(Section):
    """The section `kb`. Folders are relative to the file."""

    sources_dir: str = ""
    """The folder of the knowledge base; empty: KB_DIR."""
    team_topics_dir: str = ""
    """Topics of the team, one text file each; empty: TEAM_DIR, else the folder `team` in `sources_dir`."""
    llm: LLMSettings | None = None


class ResponseConfig(Section):
    """The settings as read."""

    ai_response: AIResponseSettings = Field(default_factory=AIResponseSettings)
    kb: KBSettings = Field(default_factory=KBSettings)
    _path: Path | None = PrivateAttr(default=None)

    @property
    def path(self) -> Path | None:
        """The file they stand in; None when there is none."""
        return self._path

    @property
    def reply_settings(self) -> ReplySettings:
        """The settings of a run: all but the connections."""
        return ReplySettings.model_validate(
            self.ai_response.model_dump(include=set(ReplySettings.model_fields))
        )


def resolve_folders(config: Config) -> tuple[Path | None, Path | None]:
    """The folders of the knowledge base and the team's topics, from file or environment (or UsageError)."""
    own = read_response_config(config)
    beside = own.path.parent if own.path else ROOT
    sources = resolve_folder(own.kb.sources_dir, beside) or resolve_folder(config.KB_DIR)
    topics = resolve_folder(own.kb.team_topics_dir, beside) or resolve_folder(config.TEAM_DIR)
    return sources, topics or find_team_folder(sources)


def find_team_folder(sources: Path | None) -> Path | None:
    """The folder of team topics inside a folder of sources, if there is one."""
    return sources / "team" if sources and (sources / "team").is_dir() else None


def read_response_config(config: Config) -> ResponseConfig:
    """The settings in the file that CONFIG_FILE names. Raises UsageError where it is wrong."""
    content, path = read_config_file(config.CONFIG_FILE)
    sections = {name: value for name, value in content.items() if name not in SETTINGS}
    try:
        found = ResponseConfig.model_validate(_drop_none(sections))
    except ValidationError as wrong:
        raise UsageError(f"{path}: {describe_faults(wrong)}; docs/settings.md lists the keys") from None
    found._path = path
    return found


def apply_llm_settings(config: Config, llm: LLMSettings) -> Config:
    """The settings of the environment, overridden by the model settings of the file."""
    changed: dict[str, Any] = {}
    if llm.base_url and llm.base_url.rstrip("/") != config.OPENAI_BASE_URL.rstrip("/"):
        changed |= {"OPENAI_BASE_URL": llm.base_url, "MODEL": "", "FAST_MODEL": "", "JUDGE_MODEL": ""}
    if secret := llm.api_key.get_secret_value():
        outside = find_address(config, "OPENAI_API_KEY", config._outside)
        changed["OPENAI_API_KEY"] = bind_key(secret, llm.base_url or outside)
    if llm.model:
        changed |= {"MODEL": llm.model, "FAST_MODEL": "", "JUDGE_MODEL": ""}
    if "timeout_seconds" in llm.model_fields_set:
        changed["MODEL_TIMEOUT"] = llm.timeout_seconds
    return config.model_copy(update=changed)


def _drop_none(value: Any) -> Any:
    """The sections without empty keys, which have their defaults."""
    if not isinstance(value, dict):
        return value
    return {name: _drop_none(inner) for name, inner in value.items() if inner is not None}
