"""The settings of a run in one spelling, however a person typed them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.text.urls import canonicalize, complete_typed_url, host
from agent.types import BatchRow, Settings
from agent.types.source_filter import normalize_language


def normalize_settings(settings: Settings) -> Settings:
    """The settings with start pages as addresses and domains as hosts: "example.org" is a page,
    "https://example.org/faq" names a host."""
    return settings.replace(
        start_urls=[
            url + "/" * (url.count("/") == 2 and url == canonicalize(url) and "?" not in url)
            for url in map(complete_typed_url, settings.start_urls)
        ],
        language=normalize_language(settings.language),
        allowed_domains=_normalize_hosts(settings.allowed_domains),
        blocked_domains=_normalize_hosts(settings.blocked_domains),
    )


def continue_settings(previous: Settings, given: Settings | None) -> Settings:
    """The settings of a further question: those of the thread, and in their place what was set in `given`."""
    if given is None:
        return previous
    chosen = {name: getattr(given, name) for name in given.model_fields_set}
    if "site" in chosen:
        limits = chosen["site"]
        chosen["site"] = previous.site.replace(**{n: getattr(limits, n) for n in limits.model_fields_set})
    return previous.replace(**chosen)


def settings_for_row(row: BatchRow, settings: Settings) -> Settings:
    """The settings of a batch row's run: it works without a person up to its answer, and reports what it has
    when a budget is used up. The site flow keeps to the hosts of its start pages, unless others are allowed.
    Raises UsageError for an unknown language."""
    own = {"until": "review", **row.own, "mode": "auto", "at_cap": "report", "thread_id": ""}
    made = normalize_settings(settings.model_copy(update=own))
    if made.flow == "site" and not made.allowed_domains:
        made.allowed_domains = _normalize_hosts(made.start_urls)
    return made


def _normalize_hosts(entries: Iterable[str]) -> list[str]:
    hosts = (host(entry) if "://" in entry else entry.split("/")[0] for entry in map(str.strip, entries))
    without_port = (re.sub(r"(?<=[a-z0-9_.-]):\d{1,5}\Z", "", entry.lower()) for entry in hosts if entry)
    return list(dict.fromkeys(without_port))
