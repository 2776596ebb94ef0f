"""The settings of one person of a server with a login: the server's, and what they saved themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.config import Config, is_secret, read_config
from agent.key_addresses import KEY_ADDRESSES
from agent.saved_settings import SavedSettings

PERSONAL_SETTINGS = frozenset(
    {"MODEL", "FAST_MODEL", "GOOGLE_CSE_ID", "CONTACT_EMAIL", "ENGINES_OFF", *KEY_ADDRESSES}
) - {"EMBEDDING_API_KEY"}
"""What each person sets for themselves. No address is among them: it would lead into the server's own
network, or take the server's keys elsewhere."""


def personalize(server: Config, folder: Path) -> Config:
    """The server's settings for the person whose store is in `folder`, with theirs. Raises UsageError."""
    saved = SavedSettings(folder, server.TOUCHSTONE_SECRET_KEY, is_secret).read()
    mine = {name: value for name, value in saved.items() if name in PERSONAL_SETTINGS}
    own = read_config({name: value for name, value in mine.items() if name not in KEY_ADDRESSES})
    update = mine | {name: getattr(own, name) for name in mine.keys() - KEY_ADDRESSES.keys()}
    made = server.model_copy(update={**update, "TOUCHSTONE_DATA": str(folder), "DATABASE_URL": ""})
    made._server = server
    return made


def is_personal(config: Config) -> bool:
    """Are these the settings of one person of several?"""
    return config._server is not None


def is_fixed(config: Config, name: str) -> bool:
    """Is this setting made elsewhere, so that nothing that its user saves would hold?"""
    if is_personal(config):
        return name not in PERSONAL_SETTINGS
    return name in config._outside


def find_default(config: Config, name: str) -> Any:
    """The value of a setting that a person has not made themselves: the server's, else none."""
    return getattr(config._server, name) if config._server else ""
