"""Saves a key as the Settings screen does: for the address that its field names."""

from __future__ import annotations

from agent.actions.commit import ActionContext
from agent.actions.server_settings import (
    EMBEDDING_SETTINGS,
    MODEL_SETTINGS,
    describe_field,
    save_engine_setting,
    save_model_setting,
)


def save_key(bench: ActionContext, name: str, key: str, engine: str = "") -> None:
    """Save a key of a model or an engine."""
    address = describe_field(bench, name).address
    if name in (*MODEL_SETTINGS, *EMBEDDING_SETTINGS):
        save_model_setting(bench, name, key, address)
    else:
        save_engine_setting(bench, name, key, engine, address)
