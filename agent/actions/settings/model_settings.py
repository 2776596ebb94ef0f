"""The model and embedding servers as a person sets them up: at once; a run that had others rests first."""

from __future__ import annotations

from agent.actions.context import ActionContext
from agent.actions.settings.fields import SettingField, check_value, describe_field, save_value
from agent.errors import UsageError
from agent.llm.http import check_server_url

MODEL_SETTINGS = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "MODEL", "FAST_MODEL")
EMBEDDING_SETTINGS = ("EMBEDDING_MODEL", "EMBEDDING_BASE_URL", "EMBEDDING_API_KEY")


def list_model_fields(bench: ActionContext) -> list[SettingField]:
    """The settings of the model."""
    return [describe_field(bench, name) for name in MODEL_SETTINGS]


def list_embedding_fields(bench: ActionContext) -> list[SettingField]:
    """The settings of search by meaning."""
    return [describe_field(bench, name) for name in EMBEDDING_SETTINGS]


def save_model_setting(bench: ActionContext, name: str, value: str, address: str = "") -> None:
    """Save an address, a key (as `save_value` does) or a model name; "" removes it. Raises UsageError."""
    if name not in (*MODEL_SETTINGS, *EMBEDDING_SETTINGS):
        raise UsageError(f"{name[:40]} is no setting of a model")
    value = check_value(bench, name, value)
    if value and name.endswith("_URL"):
        try:
            check_server_url(value, name)
        except ValueError as wrong:
            raise UsageError(f"{wrong} It looks like http://localhost:11434/v1") from None
    save_value(bench, name, value, address=address)
    bench.worker.use_models_of(bench.config)
