"""What a person's own words open and rule out: addresses to start at, addresses never to be asked for, and
wishes that take a reader.

The words are the prompt, an instruction and the notes. Pure functions of the state."""

from __future__ import annotations

from agent.flows.collect.state import CollectRun
from agent.flows.shared import fact_view
from agent.text import negative_constraints
from agent.text.excluded_sites import find_excluded_sites, is_excluded
from agent.text.urls import canonicalize, find_urls
from agent.types.collection import CrawlNode

RULED_OUT = "Your words rule this address out."


def list_instructions(state: CollectRun) -> list[str]:
    """What is said besides the prompt: the instruction, then the notes, oldest first."""
    return [*filter(None, [state.settings.instruction.strip()]), *fact_view.note_texts(state)]


def find_start_urls(state: CollectRun) -> list[str]:
    """The addresses a person gives to start from: those of the settings, then those in their words that no
    refusal holds."""
    said = [
        url
        for text in (state.question, *list_instructions(state))
        for url in find_urls(negative_constraints.split_negative_constraints(text)[0])
    ]
    return list(dict.fromkeys([*state.settings.start_urls, *said]))


def list_ruled_out(state: CollectRun, *, noted: bool = False) -> list[str]:
    """The addresses and hosts a person rules out; with `noted`, in their notes alone."""
    texts = fact_view.note_texts(state) if noted else [state.question, *list_instructions(state)]
    return find_excluded_sites(
        [part for text in texts for part in negative_constraints.split_negative_constraints(text)[1]]
    )


def is_ruled_out(url: str, entries: list[str]) -> bool:
    """Is an address one of those ruled out, or on or below one?"""
    spelled = canonicalize(url)
    return is_excluded(url, entries) or any(
        spelled.startswith(f"{entry.rstrip('/')}/") for entry in entries if "://" in entry
    )


def drop_ruled_out(state: CollectRun) -> list[CrawlNode]:
    """The pages still to be visited that are ruled out by now. A page the person named is ruled out by a
    later note only."""
    entries, later = list_ruled_out(state), list_ruled_out(state, noted=True)
    open_ones = [branch for branch in state.own.tree.values() if branch.status == "open"]
    gone = [branch for branch in open_ones if is_ruled_out(branch.url, entries if branch.parent else later)]
    return [
        branch.model_copy(update={"status": "dropped", "ended": RULED_OUT, "held": "words"})
        for branch in gone
    ]
