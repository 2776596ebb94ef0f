"""What is new in a run since the one before it that asked the same: the difference of their facts, as they
may leave. It is not how a model words them: a fact is known when its quote on that page is, or its statement.
What was on its page before is not new, and nothing is gone whose page was not read now."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Literal

from pydantic import Field

from agent.actions.commit import ActionContext
from agent.actions.release import release
from agent.answering.fact_view import facts_after_notes
from agent.engine.run_state import RunState
from agent.errors import NotFound
from agent.evidence.conflicts import find_difference
from agent.evidence.quote_match import has_quote
from agent.export.hiding import is_withheld
from agent.text.urls import canonicalize
from agent.types import Fact, Record

ChangeKind = Literal["new", "changed", "gone"]


class FactChange(Record):
    """A fact that is new, changed or gone, with its quote and page."""

    kind: ChangeKind
    statement: str
    quote: str
    url: str
    title: str
    was: str = Field(default="", description="of a changed one what stood in its place")


class NewSince(Record):
    """What is new in `run` since the run `since` of `since_at`; "" where there was none with an answer."""

    run: str
    since: str = Field(default="")
    since_at: str = Field(default="")
    facts: list[FactChange] = Field(default_factory=list)

    @property
    def summary(self) -> str:
        """For example "2 new, 1 changed"; "" where nothing is new."""
        counts = Counter(one.kind for one in self.facts)
        return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def find_new(bench: ActionContext, run_id: str, since: str = "") -> NewSince:
    """What is new in a run since another, else since the last of its schedule with an answer; raises
    NotFound."""
    state = release(bench, run_id)[0].state
    other = since or state.follows
    while other:
        earlier, _ = release(bench, other)
        is_binned = bench.store.ledger.is_deleted(other)
        if since and is_binned:
            raise NotFound(f"run {other} is in the bin: restore it to compare with it")
        if (since or earlier.state.answers) and not is_binned:
            break
        other = earlier.state.follows
    if not other:
        return NewSince(run=run_id)
    now, then = _list_facts(state), _list_facts(earlier.state)
    new = [fact for fact in _list_missing(now, then) if not _is_on_page(bench, fact, earlier.state)]
    gone = [fact for fact in _list_missing(then, now) if _is_on_page(bench, fact, state) is False]
    changed = list[FactChange]()
    for name, fact in state.facts.items():
        said, was = state.own.describe_fact(name), earlier.state.own.describe_fact(name)
        changed += [_show("changed", fact, said, was)] if was and said != was else []
    for former, fact in product(gone[:], new[:]):
        if former in gone and fact in new and former.url == fact.url and find_difference(former, fact):
            gone.remove(former)
            new.remove(fact)
            changed.append(_show("changed", fact, fact.statement, former.statement))
    facts = [*(_show("new", one, one.statement) for one in new), *changed]
    facts += [_show("gone", one, one.statement) for one in gone]
    return NewSince(run=run_id, since=other, since_at=earlier.run.created_at, facts=facts)


def _show(kind: ChangeKind, fact: Fact, said: str, was: str = "") -> FactChange:
    return FactChange(kind=kind, statement=said, was=was, quote=fact.quote, url=fact.url, title=fact.title)


def _list_facts(state: RunState) -> list[Fact]:
    """The facts that count and have a quote of a page, without those that may not leave."""
    known = (fact for fact in facts_after_notes(state).values() if fact.is_active and fact.page_id)
    return [fact for fact in known if fact.verified and not is_withheld(fact.statement)]


def _list_missing(facts: list[Fact], others: list[Fact]) -> list[Fact]:
    """The facts whose quote, on its page, and whose statement none of the others has."""
    known = {text for other in others for text in (other.url + other.quote, other.statement)}
    return [fact for fact in facts if not known & {fact.url + fact.quote, fact.statement}]


def _is_on_page(bench: ActionContext, fact: Fact, state: RunState) -> bool | None:
    """Whether the quote stands on its page as a run read it; None where that did not."""
    pages = {canonicalize(ref.final_url or ref.url): ref.page_id for ref in state.pages.values()}
    page_id = pages.get(canonicalize(fact.url))
    return has_quote(fact.quote, bench.store.pages.read_text(page_id)) if page_id else None
