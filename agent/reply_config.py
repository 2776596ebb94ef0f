"""The settings of `reply`, as they stand in `config.yaml`: sections `ai_response` and `kb`. Knows no model
and no library.

Which file that is says the setting CONFIG_FILE; without one everything has its default. Whatever does not fit
is a UsageError that names the key and what it may be. `ai_response.llm` goes before the environment, for
`reply` alone; `kb.llm` is the library's (it may describe sources) and changes nothing in how `reply` answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from agent.config import ROOT, SETTINGS, Config, read_config_file, resolve_folder
from agent.errors import UsageError
from agent.types import ReplySettings

MAX_ERRORS_SHOWN = 4
"""Faults of a file that are told at once."""
DEMO_KB = ROOT / "demo" / "kb"
TEAM_FOLDER_NAME = "team"
"""The folder of team topics inside a folder of sources, when none is named."""
MODEL_SETTING_NAMES = {"OPENAI_API_KEY", "OPENAI_BASE_URL", "MODEL"}


class Section(BaseModel):
    """A part of the file: every key is known, or refused."""

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
    """The section `kb`. Folders are relative to the file they stand in."""

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
    """What was read. `path` is None when there is no file."""

    ai_response: AIResponseSettings
    kb: KBSettings
    path: Path | None = None

    @property
    def reply_settings(self) -> ReplySettings:
        """What a run is given: everything but the connections."""
        return ReplySettings.model_validate(
            self.ai_response.model_dump(include=set(ReplySettings.model_fields))
        )

    def resolve_folder(self, name: str) -> Path | None:
        """A folder that the file names, relative to itself; None when `name` is empty."""
        if not name:
            return None
        return ((self.path.parent if self.path else ROOT) / Path(name).expanduser()).resolve()


def resolve_folders(config: Config) -> tuple[Path | None, Path | None]:
    """The folders of the knowledge base and of the team's topics: as the file says, else as the environment
    does. Raises UsageError."""
    own = read_response_config(config)
    sources = own.resolve_folder(own.kb.sources_dir) or resolve_folder(config.KB_DIR)
    topics = own.resolve_folder(own.kb.team_topics_dir) or resolve_folder(config.TEAM_DIR)
    return sources, topics or find_team_folder(sources)


def find_team_folder(sources: Path | None) -> Path | None:
    """The folder of team topics that lies inside a folder of sources."""
    return sources / TEAM_FOLDER_NAME if sources and (sources / TEAM_FOLDER_NAME).is_dir() else None


def read_response_config(config: Config) -> ResponseConfig:
    """The settings in the file that CONFIG_FILE names. Raises UsageError when it cannot be read or does not
    fit."""
    content, path = read_config_file(config.CONFIG_FILE)
    sections = {name: value for name, value in content.items() if name not in SETTINGS}
    try:
        found = _File.model_validate(_drop_none(sections))
    except ValidationError as wrong:
        raise UsageError(f"{path}: {_describe_errors(wrong)}") from None
    return ResponseConfig(found.ai_response, found.kb, path)


def apply_llm_settings(config: Config, llm: LLMSettings) -> Config:
    """The settings of the environment with the model settings of the file before them.

    A key of the environment belongs to the server of the environment: it is never sent to another one."""
    changed: dict[str, Any] = {}
    if llm.base_url and llm.base_url.rstrip("/") != config.OPENAI_BASE_URL.rstrip("/"):
        changed |= {"OPENAI_BASE_URL": llm.base_url, "OPENAI_API_KEY": "", "MODEL": "", "FAST_MODEL": ""}
    if secret := llm.api_key.get_secret_value():
        changed["OPENAI_API_KEY"] = secret
    if llm.model:
        changed |= {"MODEL": llm.model, "FAST_MODEL": ""}
    if "timeout_seconds" in llm.model_fields_set:
        changed["MODEL_TIMEOUT"] = llm.timeout_seconds
    return config.model_copy(update=changed)


def is_model_named(config: Config) -> bool:
    """Does anybody ask for a model by these settings? Then a reply never does without it."""
    return any(getattr(config, name) for name in MODEL_SETTING_NAMES)


def _drop_none(value: Any) -> Any:
    """A key with nothing behind it has its default."""
    return (
        {name: _drop_none(inner) for name, inner in value.items() if inner is not None}
        if isinstance(value, dict)
        else value
    )


def _describe_errors(wrong: ValidationError) -> str:
    """What is wrong, key by key, and what it may be."""
    faults = wrong.errors(include_url=False)
    told = [_describe_error(fault) for fault in faults[:MAX_ERRORS_SHOWN]]
    more = f"; and {len(faults) - MAX_ERRORS_SHOWN} more" if len(faults) > MAX_ERRORS_SHOWN else ""
    return "; ".join(told) + more


def _describe_error(fault: Any) -> str:
    where: tuple[str | int, ...] = fault["loc"]
    name = ".".join(str(part) for part in where)
    if fault["type"] == "extra_forbidden":
        inside = ".".join(str(part) for part in where[:-1])
        return f"{name} is no key that is known; {inside or 'the file'} may have {', '.join(_known_keys(where[:-1]))}"
    if fault["type"] == "model_type":
        return f"{name} must be a section with the keys {', '.join(_known_keys(where))}"
    message = str(fault["msg"])
    given = "" if "api_key" in where else f" (it is {str(fault['input'])[:60]!r})"
    return f"{name}: {message[:1].lower()}{message[1:]}{given}"


def _known_keys(where: Sequence[str | int]) -> list[str]:
    """The keys that a section may have."""
    kind: type[BaseModel] = _File
    for part in where:
        annotation = kind.model_fields[str(part)].annotation
        kind = LLMSettings if part == "llm" else annotation  # type: ignore[assignment]
    return list(kind.model_fields)
