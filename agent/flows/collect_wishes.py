"""What a person's own words open and rule out: addresses to start at, addresses never to be asked for, and wishes that take a reader.

The words are the prompt, an instruction and the notes. Pure functions of the state.
"""

from __future__ import annotations

from agent.flows import moves
from agent.flows.collect_state import Collect
from agent.text import refusals
from agent.text.exclusions import excluded, is_excluded
from agent.types.collected import Branch
from agent.urls import canonical, found_in

RULED_OUT = "Your words rule this address out."


def remarks(state: Collect) -> list[str]:
    """What is said besides the prompt: the instruction, then the notes, oldest first."""
    return [*filter(None, [state.settings.instruction.strip()]), *moves.notes(state)]


def named(state: Collect) -> list[str]:
    """The addresses a person gives to start from: those of the settings, then those in their words that no refusal holds."""
    said = [url for text in (state.question, *remarks(state)) for url in found_in(refusals.split(text)[0])]
    return list(dict.fromkeys([*state.settings.start_urls, *said]))


def forbidden(state: Collect, *, noted: bool = False) -> list[str]:
    """The addresses and hosts a person rules out; with `noted`, in their notes alone."""
    texts = moves.notes(state) if noted else [state.question, *remarks(state)]
    return excluded([part for text in texts for part in refusals.split(text)[1]])


def is_barred(url: str, entries: list[str]) -> bool:
    """Is an address one of those ruled out, or on or below one?"""
    spelled = canonical(url)
    return is_excluded(url, entries) or any(spelled.startswith(f"{entry.rstrip('/')}/") for entry in entries if "://" in entry)


def withdrawn(state: Collect) -> list[Branch]:
    """The pages still to be visited that are ruled out by now. A page the person named is ruled out by a later note only."""
    entries, later = forbidden(state), forbidden(state, noted=True)
    open_ones = [branch for branch in state.tree.values() if branch.status == "open"]
    gone = [branch for branch in open_ones if is_barred(branch.url, entries if branch.parent else later)]
    return [branch.model_copy(update={"status": "dropped", "ended": RULED_OUT, "held": "words"}) for branch in gone]
