"""The search engines as a person sets them up: on or off, key or address, and how each answered last.

What is saved lies in the data folder, readable by its owner alone, and holds at once. What the environment or
a file sets stands above it and is changed there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from agent.actions.context import ActionContext
from agent.config import SECRETS, SETTINGS, format_value, read_saved, save_setting
from agent.errors import UsageError
from agent.types import ENGINE_BY_NAME, ENGINES, EngineProfile, Outcome

CONTACT_EMAIL = "CONTACT_EMAIL"
_OFF = "ENGINES_OFF"


@dataclass(frozen=True)
class EngineField:
    """A setting of an engine. `value` is "" for a secret; `is_fixed`: it is set outside the screen."""

    name: str
    help: str
    is_secret: bool
    is_set: bool
    is_needed: bool
    is_fixed: bool
    value: str


@dataclass(frozen=True)
class EngineStatus:
    """An engine as it stands. `is_fixed`: on and off are set outside the screen."""

    profile: EngineProfile
    is_on: bool
    is_fixed: bool
    missing: str
    """Why it cannot be asked although it is on; "" when it can."""
    state: Literal["off", "not set up", "not asked yet", "works", "resting", "failed"]
    health: str
    fields: tuple[EngineField, ...]


def list_engines(bench: ActionContext) -> list[EngineStatus]:
    """Every engine of the registry."""
    world, off = bench.worker.world("live"), bench.config.ENGINES_OFF
    is_fixed = _is_fixed(bench, _OFF)
    found = []
    for profile in ENGINES:
        is_on, health = profile.name not in off, world.health.get(profile.name)
        missing = world.absent.get(profile.name, "") if is_on else ""
        state: Literal["off", "not set up", "not asked yet", "works", "resting", "failed"] = "not asked yet"
        if not is_on:
            state = "off"
        elif missing:
            state = "not set up"
        elif health:
            is_good = health.outcome in (Outcome.OK, Outcome.EMPTY)
            state = "works" if is_good else "resting" if health.remaining_pause() else "failed"
        told = health.description if health and is_on else ""
        fields = tuple(describe_field(bench, name, name in profile.needs) for name in profile.settings)
        found.append(EngineStatus(profile, is_on, is_fixed, missing, state, told, fields))
    return found


def describe_field(bench: ActionContext, name: str, is_needed: bool = False) -> EngineField:
    """A setting of the engines as it stands, without its value when that is a secret."""
    value, is_secret = str(getattr(bench.config, name)), name in SECRETS
    fixed = _is_fixed(bench, name)
    told = str(SETTINGS[name].description)
    return EngineField(name, told, is_secret, bool(value), is_needed, fixed, "" if is_secret else value)


def save_engine_setting(bench: ActionContext, name: str, value: str, engine: str = "") -> None:
    """Save a key, an address or the contact address; an empty value removes it. Raises UsageError."""
    value = value.strip()
    if name not in {CONTACT_EMAIL, *(field for one in ENGINES for field in one.settings)}:
        raise UsageError(f"{name[:40]} is no setting of a search engine")
    if any(sign.isspace() or not sign.isprintable() for sign in value) or len(value) > 500:
        raise UsageError(f"{name} cannot hold spaces or line ends: paste it without them")
    parts = urlsplit(value if name.endswith("_URL") else "")
    if value and name.endswith("_URL") and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise UsageError(f"{name} needs an address like https://search.example.org")
    if value and name == CONTACT_EMAIL and not 0 < value.find("@") < len(value) - 1:
        raise UsageError(f"{CONTACT_EMAIL} needs an e-mail address like name@example.org")
    _save(bench, name, value, engine)


def switch_engine(bench: ActionContext, engine: str, *, on: bool) -> None:
    """Switch an engine on or off, for every run from now on. Raises UsageError."""
    if engine not in ENGINE_BY_NAME:
        raise UsageError(f"there is no search engine {engine[:40]}")
    off = [name for name in bench.config.ENGINES_OFF if name != engine] + ([] if on else [engine])
    _save(bench, _OFF, ",".join(off), engine)


def _is_fixed(bench: ActionContext, name: str) -> bool:
    return read_saved(bench.config.data_folder).get(name, "") != format_value(getattr(bench.config, name))


def _save(bench: ActionContext, name: str, value: str, engine: str) -> None:
    if _is_fixed(bench, name):
        raise UsageError(
            f"{name} is set in the environment, in .env or in the configuration file: change it there"
        )
    save_setting(bench.config.data_folder, name, value)
    kept = value.split(",") if name == _OFF and value else [] if name == _OFF else value
    bench.config = bench.config.model_copy(update={name: kept})
    bench.worker.reopen_live_world(bench.config, engine)
