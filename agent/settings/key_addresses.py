"""Keys with the addresses they were given for: a key is sent to that scheme, host and port and nowhere else.

In a configuration and where it is saved, such a key is one text: the key, a space, the origin. One without an
origin is never sent."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from agent.text.urls import canonicalize, origin

OPENAI_URL = "https://api.openai.com/v1"
KEY_ADDRESSES = {
    "OPENAI_API_KEY": (("OPENAI_BASE_URL",), OPENAI_URL),
    "EMBEDDING_API_KEY": (("EMBEDDING_BASE_URL", "OPENAI_BASE_URL"), OPENAI_URL),
    "GOOGLE_API_KEY": (("GOOGLE_ENDPOINT",), "https://customsearch.googleapis.com"),
    "BRAVE_API_KEY": (("brave",), "https://api.search.brave.com"),
    "TAVILY_API_KEY": (("tavily",), "https://api.tavily.com"),
    "OPENALEX_API_KEY": (("openalex",), "https://api.openalex.org"),
    "SEMANTIC_SCHOLAR_API_KEY": (("semanticscholar",), "https://api.semanticscholar.org"),
}
"""By key: the settings (or engines in ENGINE_URLS) that may name its address, and the address without."""


def find_address(config: Any, name: str, among: Container[str] | None = None) -> str:
    """The address in force for a key; with `among`, as if only these settings were set."""
    engines = dict(entry.partition("=")[::2] for entry in config.ENGINE_URLS)
    names, default = KEY_ADDRESSES[name]
    found = (getattr(config, one, "") for one in names if among is None or one in among)
    return engines.get(names[0]) or next(filter(None, found), default)


def bind_key(key: str, address: str) -> str:
    """The key and the origin of the address it is given for, as one text; "" for no key."""
    return f"{key} {_origin(address)}" if key else ""


def find_origin(config: Any, name: str) -> str:
    """Where a key that is given now would go: scheme, host and port; "" for what is no key."""
    return _origin(find_address(config, name)) if name in KEY_ADDRESSES else ""


def split_key(bound: str) -> tuple[str, str]:
    """The key of such a text, and the origin it was given for; "" for none."""
    key, _, given = bound.partition(" ")
    return key, given


def use_key(config: Any, name: str, address: str) -> str:
    """The key to send to an address; "" when there is none, or it was given for another."""
    key, given = split_key(getattr(config, name))
    return key if given and given == _origin(address) else ""


def explain_unused_key(config: Any, name: str) -> str:
    """Why a key that is set is not sent, and what to do, in a sentence; "" for what is no key, or sent."""
    now = find_origin(config, name)
    if name not in KEY_ADDRESSES or not getattr(config, name) or use_key(config, name, now):
        return ""
    given = split_key(getattr(config, name))[1].removeprefix("https://") or "no server"
    told = f"The key in {name} was given for {given}, so it is not used"
    return f"{told}: give one for {now.removeprefix('https://')}, or set the address back."


def _origin(address: str) -> str:
    known = canonicalize(address)
    return origin(known) if known else ""
