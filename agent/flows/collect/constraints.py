"""Addresses that a person names or excludes in the prompt, the instruction and the notes."""

from __future__ import annotations

from agent.answering import fact_view
from agent.flows.collect.state import CollectRun
from agent.text.negative_constraints import find_excluded_sites, is_excluded, split_negative_constraints
from agent.text.urls import canonicalize, find_urls
from agent.types.collection import CrawlLimit, CrawlNode, LinkCandidate

EXCLUDED_BY_PERSON = "Your words exclude this address."


def list_instructions(state: CollectRun, *, public: bool = False) -> list[str]:
    """What a person said besides the prompt: the instruction, then the notes, oldest first; the `public` ones
    alone for a role that tells what is read."""
    notes = (fact_view.public_note_texts if public else fact_view.note_texts)(state)
    return [*filter(None, [state.settings.instruction.strip()]), *notes]


def find_start_urls(state: CollectRun) -> list[str]:
    """The start addresses of the settings, then those in the person's words outside of exclusions."""
    texts = [state.question, state.settings.instruction, *fact_view.public_note_texts(state)]
    named = [url for text in texts for url in find_urls(split_negative_constraints(text)[0])]
    return list(dict.fromkeys([*state.settings.start_urls, *named]))


def list_excluded(state: CollectRun, *, notes_only: bool = False) -> list[str]:
    """The addresses and hosts that a person excludes; a page they named is excluded by a note only."""
    texts = fact_view.note_texts(state) if notes_only else [state.question, *list_instructions(state)]
    return find_excluded_sites([part for text in texts for part in split_negative_constraints(text)[1]])


def matches_excluded(url: str, excluded: list[str]) -> bool:
    """Whether an address is one of `excluded`, or on or below one."""
    spelled = canonicalize(url)
    return is_excluded(url, excluded) or any(
        spelled.startswith(f"{entry.rstrip('/')}/") for entry in excluded if "://" in entry
    )


def limit_by_link(state: CollectRun, links: list[LinkCandidate]) -> list[tuple[LinkCandidate, CrawlLimit]]:
    """Each link with the limit that forbids to follow it: "scope", "words", or "" for none."""
    excluded = list_excluded(state)
    return [
        (
            link,
            "scope"
            if not state.settings.allows(link.url)
            else "words"
            if matches_excluded(link.url, excluded)
            else "",
        )
        for link in links
    ]


def list_allowed_links(state: CollectRun, links: list[LinkCandidate]) -> list[LinkCandidate]:
    """The links that the run may follow."""
    return [link for link, limit in limit_by_link(state, links) if not limit]


def drop_excluded(state: CollectRun) -> list[CrawlNode]:
    """The open nodes that are excluded by now, dropped."""
    excluded, by_notes = list_excluded(state), list_excluded(state, notes_only=True)
    return [
        node.replace(status="dropped", ended=EXCLUDED_BY_PERSON, held="words")
        for node in state.own.tree.values()
        if node.status == "open" and matches_excluded(node.url, excluded if node.parent else by_notes)
    ]
