"""What a person sets on the Settings screen: the search engines, the model and the embedding model.

What is saved holds at once and at the next start, below what the environment or a file sets; a run that had
another model rests first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from agent import logs
from agent.actions.commit import ActionContext
from agent.errors import UsageError
from agent.llm.server import identify_server
from agent.settings.config import (
    HIDDEN,
    SECRETS,
    SETTINGS,
    find_default,
    hide_password,
    is_fixed,
    is_personal,
)
from agent.settings.key_addresses import KEY_ADDRESSES, bind_key, explain_unused_key, find_origin
from agent.text.plurals import clip
from agent.types import ENGINE_BY_NAME, ENGINES, EngineProfile, Outcome

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
    """The value, stripped; a shown address keeps its password. Raises UsageError for what it cannot be."""
    value, stored = value.strip(), str(getattr(bench.config, name))
    if HIDDEN in value and value != hide_password(stored):
        raise UsageError(f"{name} has a password that is not shown: type it again in place of {HIDDEN[0]}")
    value = stored if HIDDEN in value else value
    if any(sign.isspace() or not sign.isprintable() for sign in value) or len(value) > MOST_CHARS:
        raise UsageError(f"{name} cannot hold spaces or line ends: paste it without them")
    if value and name.endswith("_URL"):
        try:
            identify_server(value, name)
        except ValueError:
            examples = "https://search.example.org or http://localhost:11434/v1"
            raise UsageError(f"{name} needs an address like {examples}") from None
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


CONTACT_EMAIL = "CONTACT_EMAIL"

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
    is_off_fixed = is_fixed(bench.config, "ENGINES_OFF")
    found = []
    for profile in ENGINES:
        is_on, health = profile.name not in off, world.health.get(profile.name)
        told = health.description if health and is_on else ""
        fields = tuple(describe_field(bench, name, name in profile.needs) for name in profile.settings)
        state: EngineState = "not asked yet" if is_on else "off"
        if health and is_on:
            is_good = health.outcome in (Outcome.OK, Outcome.EMPTY)
            state = "works" if is_good else "resting" if health.remaining_pause() else "failed"
        status = EngineStatus(profile, is_on, is_off_fixed, state, told, fields)
        if status.needed:
            is_url = status.needed[0].endswith("_URL")
            status = replace(status, state="needs an address" if is_url else "needs a key")
        found.append(status)
    return found


def save_engine_setting(
    bench: ActionContext, name: str, value: str, engine: str = "", address: str = ""
) -> None:
    """Save a key (see `save_value`), an address or the contact address; "" removes it. Raises UsageError."""
    if name not in {CONTACT_EMAIL, *(field for one in ENGINES for field in one.settings)}:
        raise UsageError(f"{clip(name)} is no setting of a search engine")
    value = check_value(bench, name, value)
    if value and name == CONTACT_EMAIL and not 0 < value.find("@") < len(value) - 1:
        raise UsageError(f"{CONTACT_EMAIL} needs an e-mail address like name@example.org")
    save_value(bench, name, value, address=address)
    bench.worker.reopen_live_world(bench.config, engine)


def switch_engine(bench: ActionContext, engine: str, *, on: bool) -> None:
    """Switch an engine on or off, for every run from now on. Raises UsageError."""
    if engine not in ENGINE_BY_NAME:
        raise UsageError(f"there is no search engine {clip(engine)}")
    off = [name for name in bench.config.ENGINES_OFF if name != engine] + ([] if on else [engine])
    save_value(bench, "ENGINES_OFF", ",".join(off), off)
    bench.worker.reopen_live_world(bench.config, engine)


MODEL_SETTINGS = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "MODEL", "FAST_MODEL", "JUDGE_MODEL")
EMBEDDING_SETTINGS = ("EMBEDDING_MODEL", "EMBEDDING_BASE_URL", "EMBEDDING_API_KEY")


def save_model_setting(bench: ActionContext, name: str, value: str, address: str = "") -> None:
    """Save an address, a key (as `save_value` does) or a model name; "" removes it. Raises UsageError."""
    if name not in (*MODEL_SETTINGS, *EMBEDDING_SETTINGS):
        raise UsageError(f"{clip(name)} is no setting of a model")
    save_value(bench, name, check_value(bench, name, value), address=address)
    bench.worker.use_models_of(bench.config)
