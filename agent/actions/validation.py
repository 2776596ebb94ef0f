"""Checks before a run starts. Each raises UsageError, which says what to do; nothing is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from math import isfinite
from typing import TypeVar

from pydantic import BaseModel

from agent.errors import UsageError
from agent.flows import FLOWS
from agent.text.plurals import clip
from agent.text.urls import canonicalize, complete_typed_url, is_excluded, is_in_scope
from agent.types import ENGINE_BY_ACTION, ENGINE_NAMES, LANGUAGES, NEXT_ACTIONS, Settings
from agent.web.world import World

Part = TypeVar("Part", bound=BaseModel)
_HOST = re.compile(r"(?:\*\.)?\w(?:[\w.-]*\w)?|[0-9a-f:]*:[0-9a-f:.]*", re.IGNORECASE)
MAX_QUESTION_CHARS = 4000
"""Characters of a question."""
PORTABLE_WORLDS = ("live", "demo")
"""Worlds of an imported run; any other name is a folder of another machine."""


def require_url(text: str) -> str:
    """The address a person typed, completed ("example.org" is one). Raises UsageError when it is none."""
    url = complete_typed_url(text.strip())
    if not canonicalize(url):
        raise UsageError(
            f"“{clip(text.strip())}” is not a web address; name one like example.org or https://example.org/faq"
        )
    return url


def require_allowed_url(text: str, settings: Settings | None) -> str:
    """The address a person typed, within the sources of a run. Raises UsageError."""
    url = require_url(text)
    if settings and not settings.allows(url):
        sources = "; ".join(settings.source_descriptions)
        raise UsageError(f"{clip(url)} is outside the domains chosen for this run ({sources})")
    return url


def check_new_run(question: str, settings: Settings) -> None:
    """Raise UsageError for a question or setting that is not valid."""
    if not question:
        raise UsageError("there is no question yet: type one, or choose an example")
    if question.encode("utf-8", "replace") != question.encode("utf-8", "surrogatepass"):
        raise UsageError("the question is not UTF-8 text: save or type it as UTF-8")
    if len(question) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {len(question):,} characters; {MAX_QUESTION_CHARS:,} are the most. Put "
            "long material on a page and name its address"
        )
    if settings.flow not in FLOWS:
        raise UsageError(f"there is no flow {settings.flow}")
    limits = settings.site
    if settings.max_steps < 1 or settings.max_pages < 1 or limits.max_pages < 1:
        raise UsageError("a run needs at least one step and one page")
    if not 0 <= settings.threshold <= 1:
        raise UsageError("the confidence threshold lies between 0 and 1")
    if not (isfinite(settings.max_cost_usd) and isfinite(settings.max_seconds)):
        raise UsageError("a budget needs a number: give money and time as numbers")
    if settings.max_seconds <= 0:
        raise UsageError("a run needs some working time: more than 0 minutes")
    if min(settings.max_calls, settings.max_tokens, settings.max_cost_usd) < 0:
        raise UsageError("a budget of calls, tokens or money cannot be negative")
    check_sources(settings)
    if settings.flow == "verify_again" and not settings.verifies:
        raise UsageError("name the run whose answer is to be verified (verifies)")
    if settings.flow in ("site", "collect"):  # they start at pages that a person names
        check_start_pages(settings)


def check_sources(settings: Settings) -> None:
    """Raise UsageError for a source filter that is not valid: hosts, days, language, engines."""
    allowed, blocked = settings.allowed_domains, settings.blocked_domains
    for entry in (*allowed, *blocked):
        if not _HOST.fullmatch(entry):
            raise UsageError(
                f"“{clip(entry)}” is not a domain: name one like example.org, or *.example.org with all "
                "below it"
            )
    for entry in allowed:
        if is_excluded(f"https://{entry.removeprefix('*.')}/", blocked):
            raise UsageError(f"{entry} is both allowed and blocked: remove it from one of the two")
    for name, given in (("since", settings.since), ("before", settings.before)):
        try:
            is_day = not given or date.fromisoformat(given).isoformat() == given
        except ValueError:
            is_day = False
        if not is_day:
            raise UsageError(f"“{clip(given)}” is not a day ({name}): write it like 2024-03-31")
    if settings.since and settings.before and settings.since >= settings.before:
        raise UsageError(
            f"nothing is published on or after {settings.since} and before {settings.before}: exchange "
            "the two days"
        )
    if settings.language and settings.language not in LANGUAGES:
        raise UsageError(
            f"“{clip(settings.language)}” is not a supported language; there are {', '.join(LANGUAGES)}"
        )
    if strange := [name for name in settings.engines if name not in ENGINE_NAMES]:
        raise UsageError(f"there is no search engine {clip(strange[0])}; there are {', '.join(ENGINE_NAMES)}")


def check_engines(chosen: Sequence[str], world: World) -> None:
    """Raise UsageError when none of the chosen engines is available in a world."""
    if chosen and not any(name in world.engines for name in chosen):
        why = "; ".join(
            f"{name}: {world.absent.get(name, 'this world has no such engine')}" for name in chosen
        )
        raise UsageError(
            f"none of the chosen search engines is available ({why}): choose another, or none to use all"
        )


def check_action(action: str, text: str, available: Sequence[str]) -> None:
    """Raise UsageError for an action that is not valid; `available` are the actions that are possible now."""
    if action not in NEXT_ACTIONS:
        raise UsageError(f"there is no action {action}; there are {', '.join(NEXT_ACTIONS)}")
    if action != "send_to_hitl" and not text:
        raise UsageError("say what to search for, or which address to read")
    if action == "crawl_url":
        require_url(text)
    if action in ("more", "ask") and action not in available:
        raise UsageError("choose a search, an address to read, or the answer from what was found so far")
    if action not in available:
        raise UsageError(
            f"{ENGINE_NAMES[ENGINE_BY_ACTION[action]]} is not available for this run now; search with "
            "another engine instead"
        )


def clamp_imported_settings(settings: Settings) -> Settings:
    """The settings of an imported run: no limit above its default, and one of PORTABLE_WORLDS."""
    default = Settings()
    flows = ("site", "collect", "check_text", "reply")  # those with settings of their own
    parts = {name: _clamp(getattr(settings, name), getattr(default, name)) for name in flows}
    world = settings.world if settings.world in PORTABLE_WORLDS else "live"
    return _clamp(settings, default).replace(**parts, world=world)


def _clamp(part: Part, default: Part) -> Part:
    most = {name: value for name, value in default if type(value) in (int, float)}
    return part.model_copy(update={name: max(0, min(getattr(part, name), cap)) for name, cap in most.items()})


def check_start_pages(settings: Settings) -> None:
    """Raise UsageError without start pages, or for one that is no address or outside the allowed domains."""
    if not settings.start_urls:
        raise UsageError("name at least one page to start from, e.g. https://www.example.com/")
    for url in settings.start_urls:
        require_url(url)
        if is_excluded(url, settings.blocked_domains):
            raise UsageError(
                f"{url} is on a blocked domain ({', '.join(settings.blocked_domains)}): start elsewhere, "
                "or do not block it"
            )
        if not is_in_scope(url, settings.allowed_domains):
            raise UsageError(
                f"{url} is outside the allowed domains ({', '.join(settings.allowed_domains)}): allow its "
                "host, or start elsewhere"
            )
