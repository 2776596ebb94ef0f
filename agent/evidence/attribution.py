"""The origin that a sentence names: "according to the Lund Gazette, …". An origin and all who quote it count
as one source. By regular expressions in several languages."""

from __future__ import annotations

import re

from agent.text.urls import site

_NAME = (
    r"(?:[^\W\d_a-zß-öø-ÿ][\w’'&-]*)(?:\s+(?:(?:of|the|and|de|la|for|für|och|et"
    r"|y)\s+)?[^\W\d_a-zß-öø-ÿ][\w’'&-]*){0,4}"
)
_DOMAIN = r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}"
_ATTRIBUTION = re.compile(
    r"\b(?i:according to|(?:as )?(?:first )?reported (?:by|in)|as told (?:to|by)|citing|quoting|as quoted in"
    r"|source:|laut|"
    r"nach angaben (?:von|der|des)|enligt|selon|d['’]après|según|secondo)\s+"
    rf"(?i:the|its|a|an|der|die|das|den|dem|le|la|les|el|los|il)?\s*[“\"«]?(?P<name>{_DOMAIN}|{_NAME})"
)
MIN_NAME_LETTERS = 5
"""Letters that a name and a site's name have at least when they are compared."""


def find_attribution(text: str) -> str:
    """The name of the origin, its letters and digits alone; "" when the sentence names none."""
    found = _ATTRIBUTION.search(text)
    if not found:
        return ""
    name = found["name"]
    return _alphanumerics(
        site(name if "://" in name else f"https://{name}").split(".")[0] if "." in name else name
    )


def is_site_name(name: str, url: str) -> bool:
    """Is this name the site's, by its letters? "Lund Gazette" is lund-gazette.example."""
    name, label = _alphanumerics(name), _alphanumerics(site(url).split(".")[0])
    return min(len(name), len(label)) >= MIN_NAME_LETTERS and (label in name or name in label)


def _alphanumerics(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
