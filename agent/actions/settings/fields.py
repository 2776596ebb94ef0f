"""A setting that a person changes on the Settings screen: how it stands, and how a value is checked and
saved.

What is saved holds at once and at the next start, below what the environment or a file sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent import logs
from agent.actions.context import ActionContext
from agent.config import HIDDEN, SECRETS, SETTINGS, find_default, hide_password, is_fixed, is_personal
from agent.errors import UsageError
from agent.key_addresses import KEY_ADDRESSES, bind_key, explain_unused_key, find_origin

MOST_CHARS = 500


@dataclass(frozen=True)
class SettingField:
    """A setting as it stands. `value` is "" for a secret and never holds a password; `is_fixed`: it is set
    outside the screen; `is_held`: it is forgotten when the server stops; `unused`: why a key is not sent, a
    sentence; `address`: where a key that is given now would go."""

    name: str
    help: str
    is_secret: bool
    is_set: bool
    is_needed: bool
    is_fixed: bool
    is_held: bool
    value: str
    unused: str
    address: str


def describe_field(bench: ActionContext, name: str, is_needed: bool = False) -> SettingField:
    """A setting as it stands, without its value when that is a secret."""
    value, is_secret = str(getattr(bench.config, name)), name in SECRETS
    fixed = is_fixed(bench.config, name)
    return SettingField(
        name=name,
        help=str(SETTINGS[name].description),
        is_secret=is_secret,
        is_set=bool(value),
        is_needed=is_needed,
        is_fixed=fixed,
        is_held=bench.config.saved.is_held(name),
        value="" if is_secret or (fixed and is_personal(bench.config)) else hide_password(value),
        unused=explain_unused_key(bench.config, name),
        address=find_origin(bench.config, name),
    )


def check_value(bench: ActionContext, name: str, value: str) -> str:
    """The value, stripped; an address as it was shown keeps its password. Raises UsageError for what cannot
    be a key, a name or an address."""
    value, stored = value.strip(), str(getattr(bench.config, name))
    if HIDDEN in value and value != hide_password(stored):
        raise UsageError(f"{name} has a password that is not shown: type it again in place of {HIDDEN[0]}")
    value = stored if HIDDEN in value else value
    if any(sign.isspace() or not sign.isprintable() for sign in value) or len(value) > MOST_CHARS:
        raise UsageError(f"{name} cannot hold spaces or line ends: paste it without them")
    parts = urlsplit(value if name.endswith("_URL") else "")
    if value and name.endswith("_URL") and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise UsageError(f"{name} needs an address like https://search.example.org")
    return value


def save_value(bench: ActionContext, name: str, value: str, parsed: Any = None, *, address: str = "") -> None:
    """Save a checked value and use it from now on. `parsed`: as the configuration holds it, if that is no
    text; `address`: where the field of a key said that it goes. Raises UsageError when it would go elsewhere
    by now, or is set outside the screen."""
    if is_fixed(bench.config, name):
        outside = "in the environment, in .env or in the configuration file: change it there"
        where = "by an admin of this server" if is_personal(bench.config) else outside
        raise UsageError(f"{name} is set {where}")
    if value and name in KEY_ADDRESSES:
        if address != (now := find_origin(bench.config, name)):
            told = f"it was given for {address or 'no server'}, and by now it would go to {now or 'none'}"
            raise UsageError(f"{name} was not saved: {told}; if that is right, give it again")
        value = bind_key(value, address)
    bench.config.saved.save(name, value)
    kept = value if parsed is None else parsed
    bench.config = bench.config.model_copy(update={name: kept or find_default(bench.config, name) or kept})
    logs.remember_secrets(bench.config.secrets)
