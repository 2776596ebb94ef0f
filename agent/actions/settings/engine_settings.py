"""The search engines as a person sets them up: on or off, key or address, and how each answered last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from agent.actions.context import ActionContext
from agent.actions.settings.fields import SettingField, check_value, describe_field, save_value
from agent.config import is_fixed
from agent.errors import UsageError
from agent.types import ENGINE_BY_NAME, ENGINES, EngineProfile, Outcome
from agent.web.world import EngineHealth

CONTACT_EMAIL = "CONTACT_EMAIL"
_OFF = "ENGINES_OFF"
EngineState = Literal["needs a key", "needs an address", "off", "not asked yet", "works", "resting", "failed"]


@dataclass(frozen=True)
class EngineStatus:
    """An engine as it stands. `is_fixed`: on and off are set outside the screen."""

    profile: EngineProfile
    is_on: bool
    is_fixed: bool
    state: EngineState
    health: str
    fields: tuple[SettingField, ...]

    @property
    def needed(self) -> list[str]:
        """The settings that it cannot be asked without and that are not set."""
        return [field.name for field in self.fields if field.is_needed and (field.unused or not field.is_set)]


def list_engines(bench: ActionContext) -> list[EngineStatus]:
    """Every engine of the registry."""
    world, off = bench.worker.world("live"), bench.config.ENGINES_OFF
    is_off_fixed = is_fixed(bench.config, _OFF)
    found = []
    for profile in ENGINES:
        is_on, health = profile.name not in off, world.health.get(profile.name)
        told = health.description if health and is_on else ""
        fields = tuple(describe_field(bench, name, name in profile.needs) for name in profile.settings)
        status = EngineStatus(profile, is_on, is_off_fixed, "not asked yet", told, fields)
        found.append(replace(status, state=_find_state(status, health)))
    return found


def _find_state(status: EngineStatus, health: EngineHealth | None) -> EngineState:
    """What comes first: what must be entered, whether it is on, how it answered last."""
    if status.needed:
        return "needs an address" if status.needed[0].endswith("_URL") else "needs a key"
    if not status.is_on:
        return "off"
    if not health:
        return "not asked yet"
    is_good = health.outcome in (Outcome.OK, Outcome.EMPTY)
    return "works" if is_good else "resting" if health.remaining_pause() else "failed"


def save_engine_setting(
    bench: ActionContext, name: str, value: str, engine: str = "", address: str = ""
) -> None:
    """Save a key (see `save_value`), an address or the contact address; "" removes it. Raises UsageError."""
    if name not in {CONTACT_EMAIL, *(field for one in ENGINES for field in one.settings)}:
        raise UsageError(f"{name[:40]} is no setting of a search engine")
    value = check_value(bench, name, value)
    if value and name == CONTACT_EMAIL and not 0 < value.find("@") < len(value) - 1:
        raise UsageError(f"{CONTACT_EMAIL} needs an e-mail address like name@example.org")
    save_value(bench, name, value, address=address)
    bench.worker.reopen_live_world(bench.config, engine)


def switch_engine(bench: ActionContext, engine: str, *, on: bool) -> None:
    """Switch an engine on or off, for every run from now on. Raises UsageError."""
    if engine not in ENGINE_BY_NAME:
        raise UsageError(f"there is no search engine {engine[:40]}")
    off = [name for name in bench.config.ENGINES_OFF if name != engine] + ([] if on else [engine])
    save_value(bench, _OFF, ",".join(off), off)
    bench.worker.reopen_live_world(bench.config, engine)
