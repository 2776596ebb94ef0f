"""Every setting that comes from outside, in one tuple; the only file that reads the environment (and `.env`).

The README's table is checked against `SETTINGS`. Secrets are read here and handed to the one client that
needs them; `Config` never prints them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from dotenv import dotenv_values

from agent.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
USER_AGENT = "Touchstone/0.1 (research workbench; reads one page at a time for a person)"
"""What our page fetches say they are. robots.txt rules for "Touchstone" or "*" are obeyed."""


@dataclass(frozen=True)
class Setting:
    """One setting: the name of its environment variable, its default, and a line for the README."""

    name: str
    default: str
    help: str
    secret: bool = False


SETTINGS: tuple[Setting, ...] = (
    Setting("TOUCHSTONE_DATA", "data", "the folder everything is written to (relative: below the checkout)"),
    Setting("DATABASE_URL", "", "another database than the embedded SQLite, as an SQLAlchemy URL"),
    Setting(
        "OPENAI_API_KEY", "", "key of the OpenAI-compatible server; a local one may need none", secret=True
    ),
    Setting(
        "OPENAI_BASE_URL",
        "",
        "address of the OpenAI-compatible server; empty: api.openai.com when there is a key",
    ),
    Setting("MODEL", "", "the strong model's name; empty: the first the server offers"),
    Setting("FAST_MODEL", "", "the fast model's name; empty: the strong one does both"),
    Setting("MODEL_TIMEOUT", "60", "seconds one model call may take"),
    Setting(
        "OLLAMA_URL",
        "http://127.0.0.1:11434",
        "where a local Ollama is looked for when no server is named; empty: nowhere",
    ),
    Setting(
        "EMBEDDING_MODEL",
        "",
        "the model for search by meaning; empty: a small local one if it is installed; off: words only",
    ),
    Setting(
        "EMBEDDING_BASE_URL", "", "address of the server with that model; empty: the one of OPENAI_BASE_URL"
    ),
    Setting(
        "EMBEDDING_API_KEY",
        "",
        "key of that server; empty: OPENAI_API_KEY when the address is the same",
        secret=True,
    ),
    Setting(
        "KB_DIR",
        "",
        "a folder of documents that the library is kept current with (relative: below the checkout)",
    ),
    Setting(
        "TEAM_DIR", "", "a folder of topics of the team (text files) that the library is kept current with"
    ),
    Setting("GOOGLE_API_KEY", "", "key of Google's custom search", secret=True),
    Setting("GOOGLE_CSE_ID", "", "identifier of the Google search engine (cx)"),
    Setting("GOOGLE_ENDPOINT", "", "another address for Google's API (tests, a proxy)"),
    Setting("DDG_BACKEND", "duckduckgo", "the ddgs backend(s) behind search_duckduckgo, comma-separated"),
    Setting("DDG_ENDPOINT", "", "another address for the DuckDuckGo backend (tests, a proxy)"),
    Setting("SEARCH_REGION", "us-en", "region of the searches, as ddgs spells it"),
    Setting("FETCH_TIMEOUT", "30", "seconds one page fetch may take in all"),
    Setting("FETCH_MAX_MB", "10", "megabytes (decoded) one page may have"),
    Setting(
        "FETCH_ALLOW",
        "",
        "hosts, addresses or networks on your own network that pages may be fetched from, comma-separated",
    ),
    Setting("FETCH_GAP", "1", "seconds between two fetches from one host"),
    Setting("STEP_GAP", "0", "seconds a run rests between two steps, so that it can be watched at leisure"),
    Setting("WORKERS", "4", "runs that may work at the same time"),
    Setting(
        "CONVERSATIONAL_MODE",
        "true",
        "false: `chat` takes each question by itself, without memory and checks (the simple way)",
    ),
    Setting(
        "CONFIG_FILE",
        "config.yaml",
        "the file with the settings of `reply` (relative: below the checkout); empty: none is read",
    ),
    Setting(
        "REPLY_TOKEN",
        "",
        "what `POST /reply` and `POST /messages` must be sent as bearer token; empty: none is asked for",
        secret=True,
    ),
    Setting(
        "REPLY_WINDOW",
        "5",
        "seconds of quiet after which messages sent to `POST /messages` are answered as one",
    ),
)


TRUE_WORDS, FALSE_WORDS = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Config:
    """The settings as read: `config["MODEL"]` is always a string; the typed ones have properties."""

    values: dict[str, str] = field(repr=False)

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    @property
    def data_folder(self) -> Path:
        """The folder everything is written to."""
        return (ROOT / (self.values["TOUCHSTONE_DATA"] or "data")).resolve()

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL of the store."""
        return self.values["DATABASE_URL"] or f"sqlite:///{self.data_folder / 'touchstone.db'}"

    @property
    def secrets(self) -> list[str]:
        """What must never leave in a file: the keys and tokens, and the passwords inside addresses."""
        keys = [self.values[setting.name] for setting in SETTINGS if setting.secret]
        passwords = [
            value.rpartition("@")[0].rpartition(":")[2]
            for value in self.values.values()
            if "://" in value and "@" in value
        ]
        return [secret for secret in (*keys, *passwords) if secret]

    def get_folder(self, name: str) -> Path | None:
        """A setting that names a folder; None when it is empty."""
        return (ROOT / self.values[name]).resolve() if self.values[name] else None

    def get_number(self, name: str) -> float:
        """A setting as a number; its default when what stands there is none."""
        try:
            return float(self.values[name])
        except ValueError:
            return float(next(s.default for s in SETTINGS if s.name == name))

    def get_bool(self, name: str) -> bool:
        """A setting that is true or false; its default when it is empty. Raises UsageError when it is any
        other word."""
        said = self.values[name].strip().casefold() or next(s.default for s in SETTINGS if s.name == name)
        if said not in TRUE_WORDS + FALSE_WORDS:
            raise UsageError(f"{name} is {self.values[name][:60]!r}: say true or false")
        return said in TRUE_WORDS

    def get_list(self, name: str) -> list[str]:
        """A comma-separated setting as a list."""
        return [word.strip() for word in self.values[name].split(",") if word.strip()]


def read_config(overrides: dict[str, str] | None = None) -> Config:
    """The settings from `.env` beside the README, then the environment, then `overrides`; each wins over the
    one before."""
    known = {setting.name: setting.default for setting in SETTINGS}
    given = {**dotenv_values(ROOT / ".env"), **os.environ, **(overrides or {})}
    return Config(
        {
            name: (given.get(name) or "").strip() if name in given else default
            for name, default in known.items()
        }
    )
