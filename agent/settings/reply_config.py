"""The settings of `reply`: the sections `ai_response` and `kb` of the file that CONFIG_FILE names.

Without a file every key has its default; a wrong key or value is a UsageError that names it and what it may
be. `ai_response.llm` overrides the environment for `reply` alone; `kb.llm` describes the sources of the
library and does not change how `reply` answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from agent.errors import UsageError
from agent.settings.config import ROOT, SETTINGS, Config, read_config_file, resolve_folder
from agent.settings.key_addresses import bind_key, find_address
from agent.types import ReplySettings

MAX_ERRORS_SHOWN = 4
"""Errors of a file that one message lists."""
DEMO_KB = ROOT / "demo" / "kb"
TEAM_FOLDER_NAME = "team"
"""The default folder of team topics inside a folder of sources."""
MODEL_SETTING_NAMES = {"OPENAI_API_KEY", "OPENAI_BASE_URL", "MODEL"}


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


class _File(Section):
    ai_response: AIResponseSettings = Field(default_factory=AIResponseSettings)
    kb: KBSettings = Field(default_factory=KBSettings)


@dataclass(frozen=True)
class ResponseConfig:
    """The settings as read. `path` is None when there is no file."""

    ai_response: AIResponseSettings
    kb: KBSettings
    path: Path | None = None

    @property
    def reply_settings(self) -> ReplySettings:
        """The settings of a run: all but the connections."""
        return ReplySettings.model_validate(
            self.ai_response.model_dump(include=set(ReplySettings.model_fields))
        )

    def resolve_folder(self, name: str) -> Path | None:
        """A folder of the file, relative to it; None when `name` is empty."""
        if not name:
            return None
        return ((self.path.parent if self.path else ROOT) / Path(name).expanduser()).resolve()


def resolve_folders(config: Config) -> tuple[Path | None, Path | None]:
    """The folders of the knowledge base and the team's topics, from file or environment (or UsageError)."""
    own = read_response_config(config)
    sources = own.resolve_folder(own.kb.sources_dir) or resolve_folder(config.KB_DIR)
    topics = own.resolve_folder(own.kb.team_topics_dir) or resolve_folder(config.TEAM_DIR)
    return sources, topics or find_team_folder(sources)


def find_team_folder(sources: Path | None) -> Path | None:
    """The folder of team topics inside a folder of sources, if there is one."""
    return sources / TEAM_FOLDER_NAME if sources and (sources / TEAM_FOLDER_NAME).is_dir() else None


def read_response_config(config: Config) -> ResponseConfig:
    """The settings in the file that CONFIG_FILE names. Raises UsageError where it is wrong."""
    content, path = read_config_file(config.CONFIG_FILE)
    sections = {name: value for name, value in content.items() if name not in SETTINGS}
    try:
        found = _File.model_validate(_drop_none(sections))
    except ValidationError as wrong:
        faults = wrong.errors(include_url=False)
        described = "; ".join(map(_describe_error, faults[:MAX_ERRORS_SHOWN]))
        more = f"; and {len(faults) - MAX_ERRORS_SHOWN} more" if len(faults) > MAX_ERRORS_SHOWN else ""
        raise UsageError(f"{path}: {described}{more}") from None
    return ResponseConfig(found.ai_response, found.kb, path)


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


def is_model_named(config: Config) -> bool:
    """Whether these settings name a model; `reply` then never answers without it."""
    return any(getattr(config, name) for name in MODEL_SETTING_NAMES)


def _drop_none(value: Any) -> Any:
    """The sections without empty keys, which have their defaults."""
    return (
        {name: _drop_none(inner) for name, inner in value.items() if inner is not None}
        if isinstance(value, dict)
        else value
    )


def _describe_error(fault: Any) -> str:
    """A wrong key with what it may be."""
    where = [str(part) for part in fault["loc"]]
    name, inside = ".".join(where), where[:-1] if fault["type"] == "extra_forbidden" else where
    if fault["type"] in ("extra_forbidden", "model_type"):
        kind: Any = _File
        for part in inside:
            kind = LLMSettings if part == "llm" else kind.model_fields[part].annotation
        known = ", ".join(kind.model_fields)
        if inside is where:
            return f"{name} must be a section with the keys {known}"
        return f"{name} is not a known key; {'.'.join(inside) or 'the file'} may have {known}"
    message = str(fault["msg"])
    given = "" if "api_key" in where else f" (it is {str(fault['input'])[:60]!r})"
    return f"{name}: {message[:1].lower()}{message[1:]}{given}"
