"""Every setting from outside the program, with its default and its help; nothing else reads the environment.

Sources, the first wins: overrides, the environment, `.env` beside the README, the top level of the file that
CONFIG_FILE names, what was saved on the Settings screen.
docs/settings.md is made from the fields. Secrets are handed to the one client that needs
them; a Config never prints its values."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from agent import logs
from agent.errors import UsageError, describe_faults
from agent.settings.key_addresses import KEY_ADDRESSES, bind_key, find_address, split_key
from agent.settings.saved import SavedSettings

ROOT = Path(__file__).resolve().parents[2]
USER_AGENT = "Touchstone/0.1 (research workbench; reads one page at a time for a person)"
"""What our page fetches say they are. robots.txt rules for "Touchstone" or "*" are obeyed."""

UNFINISHED = "before-restore-unfinished"
"""What was in a data folder before a restore that has not ended."""


def _split_commas(value: Any) -> Any:
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


Words = Annotated[list[str], NoDecode, BeforeValidator(_split_commas)]
"""A comma-separated setting."""


Seconds = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]
Timeout = Annotated[Seconds, Field(gt=0)]
Amount = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=100_000_000_000)]
Workers = Annotated[int, Field(ge=0, le=1000)]
Few = Annotated[Workers, Field(ge=1)]


def _setting(default: Any, description: str) -> Any:
    return Field(default, description=description)


def _secret(description: str) -> Any:
    return Field("", description=description, repr=False)


DEFAULT_CONFIG_FILE = "config.yaml"
"""The one file that may be missing although CONFIG_FILE names it."""
_OUTSIDE = "set outside Settings"
"""Among the values of all sources: the names of those that were not saved on the Settings screen."""


def read_config_file(name: str) -> tuple[dict[str, Any], Path | None]:
    """The content of a YAML file (relative: below the checkout) and its path; {} and None when `name` is
    empty or the default file is missing. Raises UsageError when it cannot be read."""
    import yaml  # 20 ms that most starts save

    path = (ROOT / Path(name).expanduser()).resolve()
    if not name or (not path.is_file() and path == ROOT / DEFAULT_CONFIG_FILE):
        return {}, None
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"{path} cannot be read: {reason}; CONFIG_FILE names it") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise UsageError(f"{path}{f', line {mark.line + 1}' if mark else ''}: this is not YAML") from None
    if not isinstance(content, dict):
        raise UsageError(
            f"{path}: the file must hold sections (ai_response, kb) or settings, each with its keys"
        )
    return content, path


class FileSource(InitSettingsSource):
    """The top level of the file that CONFIG_FILE names; below it what was saved on the Settings screen."""

    def __call__(self) -> dict[str, Any]:
        content, _ = read_config_file(str(self.current_state.get("CONFIG_FILE", DEFAULT_CONFIG_FILE)))
        stated = {name: value for name, value in content.items() if name in SETTINGS}
        so_far = stated | self.current_state
        folder, keys = so_far.get("TOUCHSTONE_DATA", ""), str(so_far.get("TOUCHSTONE_SECRET_KEY", ""))
        saved = SavedSettings(resolve_data_folder(folder), keys, is_secret).read()
        own = ("TOUCHSTONE_DATA", "TOUCHSTONE_SECRET_KEY")  # where the file is, and its key: it sets neither
        usable = {name: text for name, text in saved.items() if name in SETTINGS and name not in own}
        outside = [name for name, value in so_far.items() if value not in ("", None)]
        return {_OUTSIDE: outside, **usable, **stated}


class Config(BaseSettings):
    """The settings as read; a field has the name of its environment variable."""

    model_config = SettingsConfigDict(
        env_file=ROOT / ".env",
        case_sensitive=True,
        coerce_numbers_to_str=True,
        extra="ignore",
        protected_namespaces=(),
    )

    TOUCHSTONE_DATA: str = _setting(
        "data", "the folder everything is written to (relative: below the checkout)"
    )
    TOUCHSTONE_SECRET_KEY: str = _secret(
        "the key that keys saved on the Settings screen are encrypted with; several, separated by commas: "
        "the first encrypts, all decrypt; empty: one in the system's keyring"
    )
    DATABASE_URL: str = _setting("", "another database than the embedded SQLite, as an SQLAlchemy URL")
    BODIES_URL: str = _setting(
        "",
        "where the raw bodies of pages are kept, as an address of fsspec: file:///srv/bodies, "
        "s3://bucket/folder; empty: in the database",
    )
    OPENAI_API_KEY: str = _secret("key of the OpenAI-compatible server; a local one may need none")
    OPENAI_BASE_URL: str = _setting(
        "", "address of the OpenAI-compatible server; empty: api.openai.com when there is a key"
    )
    MODEL: str = _setting("", "the strong model's name; empty: the first the server offers")
    FAST_MODEL: str = _setting("", "the fast model's name; empty: the strong one does both")
    JUDGE_MODEL: str = _setting(
        "", "the model on the same server that checks what the strong one wrote; empty: the strong one itself"
    )
    MODEL_TIMEOUT: Timeout = _setting(60.0, "seconds one model call may take, up to 3600")
    MODEL_CONTEXT: Count = _setting(
        0,
        "tokens that prompt and reply may have together (4,096 or more); 0: what the server tells, or 32,768",
    )
    OLLAMA_URL: str = _setting(
        "http://127.0.0.1:11434", "address of a local Ollama, used when no server is named; empty: none"
    )
    EMBEDDING_MODEL: str = _setting(
        "", "the model for search by meaning; empty: a small local one if it is installed; off: words only"
    )
    EMBEDDING_BASE_URL: str = _setting(
        "", "address of the server with that model; empty: the one of OPENAI_BASE_URL"
    )
    EMBEDDING_API_KEY: str = _secret("key of that server; empty: OPENAI_API_KEY when the address is the same")
    KB_DIR: str = _setting(
        "", "a folder of documents that the library is kept current with (relative: below the checkout)"
    )
    TEAM_DIR: str = _setting(
        "", "a folder of topics of the team (text files) that the library is kept current with"
    )
    GOOGLE_API_KEY: str = _secret("key of Google's custom search")
    GOOGLE_CSE_ID: str = _setting("", "identifier of the Google search engine (cx)")
    GOOGLE_ENDPOINT: str = _setting("", "another address for Google's API (tests, a proxy)")
    DDG_BACKEND: Words = _setting(
        ["duckduckgo"], "the ddgs backend(s) behind search_duckduckgo, comma-separated"
    )
    DDG_ENDPOINT: str = _setting("", "another address for the DuckDuckGo backend (tests, a proxy)")
    SEARXNG_URL: str = _setting(
        "", "address of a SearXNG server, which may be on your own network; its settings must allow JSON"
    )
    BRAVE_API_KEY: str = _secret("key of Brave's search API")
    TAVILY_API_KEY: str = _secret("key of Tavily's search API")
    OPENALEX_API_KEY: str = _secret("key of OpenAlex (free); without one it answers a few searches a day")
    SEMANTIC_SCHOLAR_API_KEY: str = _secret(
        "key of Semantic Scholar (free); without one it often asks for pauses"
    )
    CONTACT_EMAIL: str = _setting(
        "",
        "your e-mail address, sent to Unpaywall (which finds open copies of papers and needs one), Crossref, "
        "OpenAlex and Wikipedia",
    )
    ENGINES_OFF: Words = _setting([], "search engines that are switched off, comma-separated")
    ENGINE_URLS: Words = _setting(
        [],
        "other addresses of engines, comma-separated: wikipedia=https://wiki.lan/w/api.php (tests, a proxy)",
    )
    SEARCH_REGION: str = _setting("us-en", "region of the searches, as ddgs spells it")
    FETCH_TIMEOUT: Timeout = _setting(30.0, "seconds one page fetch may take in all, up to 3600")
    FETCH_MAX_MB: Annotated[Amount, Field(gt=0)] = _setting(10.0, "megabytes (decoded) one page may have")
    PARSER_TIMEOUT: Timeout = _setting(
        5.0, "seconds of CPU time that reading one document may take (PDF, Office, EPUB, RTF), up to 3600"
    )
    PARSER_MAX_MB: Annotated[Amount, Field(ge=128)] = _setting(
        512.0, "megabytes of memory for reading one document, 128 or more"
    )
    FETCH_ALLOW: Words = _setting(
        [], "hosts, addresses or networks on your own network that pages may be fetched from, comma-separated"
    )
    FETCH_GAP: Seconds = _setting(1.0, "seconds between two fetches from one host, up to 3600")
    STEP_GAP: Seconds = _setting(
        0.0, "seconds a run rests between two steps, to be watched at leisure, up to 3600"
    )
    WORKERS: Workers = _setting(
        4, "runs that may work at the same time, up to 1000; 0: `./touchstone work` does the work elsewhere"
    )
    WORKERS_APART: bool = _setting(
        False,
        "true: runs work in a process of their own beside the server, so that looking stays fast (without a "
        "login)",
    )
    CONVERSATIONAL_MODE: bool = _setting(
        True, "false: `chat` takes each question by itself, without memory and checks (the simple way)"
    )
    CHAT_ONE_PASSAGE: bool = _setting(
        True,
        "`chat` answers from one passage, or two, that its grader marks as the whole answer; false: always "
        "from three relevant ones, or after two further searches",
    )
    CONFIG_FILE: str = _setting(
        DEFAULT_CONFIG_FILE,
        "a YAML file with the settings of `reply`, and any of these (relative: below the checkout); empty: "
        "none",
    )
    REPLY_TOKEN: str = _secret(
        "bearer token that `POST /reply` and `POST /messages` require; empty: none is required"
    )
    REPLY_WINDOW: Seconds = _setting(
        5.0, "seconds of quiet after which messages sent to `POST /messages` are answered as one, up to 3600"
    )
    ALLOW_PUBLIC_WITHOUT_LOGIN: bool = _setting(
        False, "true: serve other machines without a login: whoever reaches the port sees and changes all"
    )
    ALLOWED_HOSTS: Words = _setting(
        [], "names under which others call this server, besides localhost and that of OIDC_REDIRECT_URI"
    )
    OIDC_DISCOVERY_URL: str = _setting(
        "",
        "discovery document of the login's OpenID provider (…/.well-known/openid-configuration); empty: none",
    )
    OIDC_CLIENT_ID: str = _setting("", "what the provider calls this server")
    OIDC_CLIENT_SECRET: str = _secret("secret of this server at the provider")
    OIDC_REDIRECT_URI: str = _setting(
        "http://localhost:{port}/oauth2callback",
        "address of this server to which the provider sends people back; its path is /oauth2callback",
    )
    OIDC_COOKIE_SECRET: str = _secret(
        "signs the cookie of a login; empty: one is made and saved as a key is, encrypted in the data folder"
    )
    ALLOWED_EMAILS: Words = _setting(
        [],
        "who may sign in: e-mail addresses and @domains, comma-separated; empty: all whom the provider knows",
    )
    ADMIN_EMAILS: Words = _setting(
        [], "who is an admin from the first sign-in on, comma-separated; empty: the first person who signs in"
    )
    SIGN_IN_TRUSTED_ISSUERS: Words = _setting(
        [],
        "providers (iss, comma-separated) whose addresses count as proven without email_verified; "
        "warning: where people there choose their address, whoever chooses an admin's is admin here",
    )
    SIGN_IN_DAYS: Annotated[Amount, Field(le=30)] = _setting(
        7.0, "days a sign-in holds; 0: until its ID token expires, often an hour"
    )
    QUOTA_RUNS: Few = _setting(3, "runs of one person that may work at once, with a login")
    QUOTA_PAGES: Count = _setting(5000, "pages one person may fetch a day (UTC), with a login")
    QUOTA_TOKENS: Count = _setting(5_000_000, "model tokens one person may use a day, with a login")
    QUOTA_DOLLARS: Amount = _setting(
        20, "US dollars one person's model calls may cost a day, with a login (where prices are known)"
    )
    API_RATE: Count = _setting(
        60, "requests a minute with the API tokens of one person, or with REPLY_TOKEN; 0: no limit"
    )

    METRICS_TOKEN: str = _secret(
        "bearer token that `GET /metrics` and the details of `/readyz` require; empty: this machine may read "
        "them, and on a server for others nobody"
    )
    LOG_FORMAT: Literal["readable", "json"] = _setting(
        "readable", "`json`: a JSON object a line, for programs; else `readable`"
    )
    LOG_LEVEL: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(lambda level: str(level).upper())
    ] = _setting("WARNING", "what is logged: DEBUG, INFO, WARNING or ERROR, and all above it")
    BACKUP_EVERY_H: Amount = _setting(0.0, "hours between two backups that the server makes; 0: none")
    BACKUP_KEEP: Few = _setting(7, "how many of these backups are kept; older ones are deleted")
    BACKUP_DIR: str = _setting(
        "", "the folder of these backups (relative: below the checkout); empty: `backups` in the data folder"
    )

    _server: Config | None = PrivateAttr(default=None)
    """The settings of the server, where these are those of one person (`personalize`)."""
    _outside: frozenset[str] = PrivateAttr(default=frozenset())
    """The settings that the environment or a file makes."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The sources, the first wins."""
        return init_settings, env_settings, dotenv_settings, FileSource(settings_cls, {})

    @field_validator("*", mode="before")
    @classmethod
    def _clean(cls, value: Any, info: ValidationInfo) -> Any:
        """An empty text is a value for a text, and the default for a number or a switch."""
        field = cls.model_fields[str(info.field_name)]
        value = value.strip() if isinstance(value, str) else value
        return field.default if value in ("", None) and field.annotation is not str else value

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _bind_keys(cls, values: Any, build: pydantic.ModelWrapValidatorHandler[Config]) -> Config:
        """A key from outside Settings belongs to the address from there. No log ever shows a secret."""
        outside = frozenset(values.pop(_OUTSIDE, ()))
        made = build(values)
        made._outside = outside
        for name in KEY_ADDRESSES.keys() & outside:
            setattr(made, name, bind_key(getattr(made, name), find_address(made, name, outside)))
        logs.remember_secrets(made.secrets)
        return made

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return []

    @property
    def data_folder(self) -> Path:
        """The folder everything is written to. Raises UsageError when a restore of it was not finished."""
        folder = resolve_data_folder(self.TOUCHSTONE_DATA)
        if (mark := folder / UNFINISHED).exists():
            raise UsageError(
                f"a restore of {folder} is not finished: run `./touchstone restore FILE --force` again, or "
                f"move what is in {mark} back over what is there and delete that folder"
            )
        return folder

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL of the store."""
        return self.DATABASE_URL or self.locate_store("touchstone.db")

    @property
    def has_server_store(self) -> bool:
        """Does a database server keep the stores, not files?"""
        return bool(self.DATABASE_URL) and not self.DATABASE_URL.startswith("sqlite")

    def locate_store(self, path: str) -> str:
        """The SQLAlchemy URL of the store that as a file has this path in the data folder."""
        if not self.has_server_store:
            return f"sqlite:///{self.data_folder / path}"
        return f"{self.DATABASE_URL}{'&' if '?' in self.DATABASE_URL else '?'}store={path}"

    @property
    def saved(self) -> SavedSettings:
        """What was saved on the Settings screen."""
        return SavedSettings(self.data_folder, self.TOUCHSTONE_SECRET_KEY, is_secret)

    @property
    def has_login(self) -> bool:
        """Do people sign in? Raises UsageError when only a part of a login is set."""
        needed = ("OIDC_DISCOVERY_URL", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")
        if missing := [name for name in needed if not getattr(self, name)]:
            if len(missing) < len(needed):
                raise UsageError(f"a login needs {' and '.join(missing)} too; set all of {', '.join(needed)}")
            return False
        return True

    @property
    def secrets(self) -> list[str]:
        """What must never leave in a file: the keys and tokens, and the passwords inside addresses."""
        values = {name: str(value) for name, value in self}
        values |= {name: split_key(values[name])[0] for name in KEY_ADDRESSES}
        passwords = [
            value.rpartition("@")[0].rpartition(":")[2] for value in values.values() if _has_password(value)
        ]
        values["TOUCHSTONE_SECRET_KEY"], *former = values["TOUCHSTONE_SECRET_KEY"].split(",")
        return [secret for secret in (*map(values.__getitem__, SECRETS), *former, *passwords) if secret]


SETTINGS = dict(Config.model_fields)
"""Each setting's name with its field: default and description."""
SECRETS = [name for name, field in SETTINGS.items() if not field.repr]
HIDDEN = "…@"
"""Stands for the name and password of an address that is shown."""


def is_secret(name: str, value: str) -> bool:
    """Is the value of this setting kept encrypted? Keys and tokens, and addresses with a password."""
    return name in SECRETS or _has_password(value)


def _has_password(value: str) -> bool:
    return "://" in value and "@" in value


def hide_password(value: str) -> str:
    """An address as it may be shown: without what stands before the @."""
    scheme, _, rest = value.partition("://")
    return f"{scheme}://{HIDDEN}{rest.rpartition('@')[2]}" if _has_password(value) else value


_CHILD_VARIABLES = "PATH LD_LIBRARY_PATH SYSTEMROOT TEMP TMP TMPDIR SSL_CERT_FILE SSL_CERT_DIR".split()


def child_environment() -> dict[str, str]:
    """The environment of a process that reads documents of strangers: nothing that is secret, and the places
    this program's modules come from."""
    kept = {name: os.environ[name] for name in _CHILD_VARIABLES if name in os.environ}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"}


def make_environment(config: Config) -> dict[str, str]:
    """The environment of another process of Touchstone that works on the same data."""
    told = {"TOUCHSTONE_DATA": str(config.data_folder), "DATABASE_URL": config.DATABASE_URL}
    return {**os.environ, **told}


def read_config(overrides: dict[str, str] | None = None) -> Config:
    """The settings of all sources. Raises UsageError for a wrong value or CONFIG_FILE."""
    try:
        return Config(**(overrides or {}))  # type: ignore[arg-type]
    except ValidationError as wrong:
        raise UsageError(f"a setting is not possible: {describe_faults(wrong)}") from None


def resolve_folder(name: str, beside: Path = ROOT) -> Path | None:
    """The folder that a setting names, relative to the checkout or another; None for an empty name."""
    return (beside / Path(name).expanduser()).resolve() if name else None


def resolve_data_folder(name: str) -> Path:
    """The folder everything is written to, by its setting."""
    return (ROOT / (name or "data")).resolve()


PERSONAL_SETTINGS = frozenset(
    {"MODEL", "FAST_MODEL", "JUDGE_MODEL", "GOOGLE_CSE_ID", "CONTACT_EMAIL", "ENGINES_OFF", *KEY_ADDRESSES}
) - {"EMBEDDING_API_KEY"}
"""What each person sets for themselves. No address is among them: it would lead into the server's own
network, or take the server's keys elsewhere."""


def personalize(server: Config, folder: Path) -> Config:
    """The server's settings for the person whose store is in `folder`, with theirs. Raises UsageError."""
    saved = SavedSettings(folder, server.TOUCHSTONE_SECRET_KEY, is_secret).read()
    mine = {name: value for name, value in saved.items() if name in PERSONAL_SETTINGS}
    own = read_config({name: value for name, value in mine.items() if name not in KEY_ADDRESSES})
    update = mine | {name: getattr(own, name) for name in mine.keys() - KEY_ADDRESSES.keys()}
    address = ""
    if server.has_server_store:
        address = server.locate_store(f"{folder.relative_to(server.data_folder).as_posix()}/touchstone.db")
    made = server.model_copy(update={**update, "TOUCHSTONE_DATA": str(folder), "DATABASE_URL": address})
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
