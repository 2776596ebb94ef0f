"""How a run came to its answer, as a story in a few sentences: which finding led to which search or page,
what could not be read, and why it stopped. From its ledger, by code; the reasons in brackets are those of
the decisions, the other quotes are from the pages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from agent.answering import fact_view
from agent.engine.run_state import RunState
from agent.text.plurals import format_count
from agent.text.urls import site
from agent.types import Action, Outcome

MAX_ROUNDS = 5
"""Rounds that are told, the first and the last ones: with beginning, failures and end eight sentences."""
MAX_QUOTE_CHARS, MAX_REASON_CHARS = 180, 240
_INNER_QUOTES = str.maketrans("“”", "‘’")
MAX_NAMED = 3
"""Searches, pages or failures that one sentence names."""


def describe_journey(state: RunState) -> str:
    """The story of a run, at most eight sentences. Nothing that a page or a model said where a private note
    or an added file may stand behind it."""
    has_private = bool(state.earlier_private_notes or state.file_words or any(n.private for n in state.notes))
    told, idle = list[str](), 0
    for _, group in groupby(state.actions, key=lambda action: action.step):
        done = list(group)
        if text := _tell_round(state, done, not has_private):
            told.append(f"{'Then' if told or idle else 'First'} it {text}.")
        else:
            idle += len(done)
    if len(told) > MAX_ROUNDS:
        told[2:-2] = [f"{format_count(len(told) - 4, 'further round')} led on."]
    if idle:
        told.append(f"{format_count(idle, 'search or page', 'searches and pages')} brought nothing new.")
    failed = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    why = dict.fromkeys(
        f"{site(page.url)} ({page.detail.split('. ')[0].rstrip('.') or page.outcome.value})"
        for page in failed
    )
    if why:
        told.append(f"It could not read {_join(why)}.")
    if end := state.why_stopped.rstrip("."):
        last = state.pending
        own = last.reasoning if last and last.by == "model" and not has_private else ""
        reason = f" (“{_shorten(fact_view.clean_message(state, own), MAX_REASON_CHARS)}”)" if own else ""
        told.append(f"It stopped because {end[0].lower()}{end[1:]}{reason}.")
    return " ".join(told)


def _tell_round(state: RunState, done: Sequence[Action], has_words: bool) -> str:
    """What a round did that led to something, and with `has_words` why, and what a page said; "" where it led
    to nothing."""
    searches = dict.fromkeys(f"“{action.query_or_url}”" for action in done if action.hits)
    read = {action.page_id for action in done if action.page_id and action.new_facts}
    found = [fact for fact in state.facts.values() if fact.page_id in read and fact.is_active]
    sites = dict.fromkeys(site(fact.url) or fact.title for fact in found)
    asked = [f"asked: {action.query_or_url} {action.detail}" for action in done if action.action == "ask"]
    did = [f"searched for {_join(searches)}"] if searches else []
    did += [f"read {_join(sites)}"] if sites else []
    text = " and ".join([*did, *asked])
    reason = next((action.reasoning for action in done if action.by == "model"), "")
    if text and reason and has_words:
        text += f" (“{_shorten(fact_view.clean_message(state, reason), MAX_REASON_CHARS)}”)"
    best = max(found, key=lambda fact: fact.relevance, default=None)
    if best and has_words:
        who = "it" if len(sites) == 1 else site(best.url) or best.title
        text += f"; {who} says “{_shorten(best.quote, MAX_QUOTE_CHARS)}”"
    return text


def _join(names: Iterable[str]) -> str:
    """The first names in a row, and how many more there are."""
    shown = list(names)
    more = [f"{len(shown) - MAX_NAMED} more"] if len(shown) > MAX_NAMED else []
    *first, last = [*shown[:MAX_NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last


def _shorten(text: str, most: int) -> str:
    line = " ".join(text.split()).rstrip(".").translate(_INNER_QUOTES)
    return line if len(line) <= most else f"{line[: most - 1].rsplit(' ', 1)[0]} …"
