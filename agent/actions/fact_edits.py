"""A person's edits of the facts of a run: mark, correct, add. Each is one step, and none deletes anything.

The text of an edit ("excluded 3 facts of example.org") is shown on the undo button, in the timeline and
above the answer that is written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import Field

from agent.actions.commit import ActionContext, PersonStep, commit, edit_step
from agent.actions.validation import require_allowed_url
from agent.answering import fact_view
from agent.answering.pages import mark_read, refer_to_stored
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.evidence.citation_check import contradicts_quote
from agent.evidence.quote_match import find_quote, verify_quote
from agent.evidence.sources import assess_trust
from agent.retrieval.scorer import score_fact
from agent.text.plurals import clip, format_count
from agent.text.urls import canonicalize, site
from agent.types import Edit, Fact, Outcome, Page, PageRef, PersonMark
from agent.types.facts import cite_page, make_fact_id
from agent.web import search_results

MAX_TEXT_CHARS = 2000
"""Characters of a statement or quote that a person writes."""


@dataclass(frozen=True)
class FactEdit:
    """New values of one fact; None keeps a value."""

    id: str
    statement: str | None = None
    quote: str | None = None
    decision: PersonMark | None = None

    @property
    def is_reworded(self) -> bool:
        """Does it change the statement or the quote?"""
        return self.statement is not None or self.quote is not None


def mark(
    view: RunSnapshot,
    facts: Annotated[Sequence[str], Field(description="the ids of the facts")],
    decision: Annotated[
        PersonMark,
        Field(description="none: as they were found; pinned: always use them; struck: leave them out"),
    ],
) -> PersonStep:
    """Pin facts, strike them, or take that back."""
    return edit_facts(view, [FactEdit(name, decision=decision) for name in facts], {})


def revise(
    bench: ActionContext,
    run_id: str,
    head: int | None,
    edits: Annotated[Sequence[FactEdit], Field(description="new values of facts, one object each")],
) -> int:
    """Edit facts in one step: what they state, their quotes, their marks."""
    facts = bench.snapshot(run_id).state.facts
    page_ids = {facts[edit.id].page_id for edit in edits if edit.is_reworded and edit.id in facts} - {""}
    pages, _ = bench.store.pages.get_many(page_ids)
    return commit(bench, run_id, "revise", lambda view: edit_facts(view, edits, pages), head=head)


def correct(
    bench: ActionContext,
    run_id: str,
    head: int | None,
    fact: Annotated[str, Field(description="the id of the fact")],
    statement: Annotated[str | None, Field(description="what it states; without it as before")] = None,
    quote: Annotated[str | None, Field(description="its words on the page; without it as before")] = None,
) -> int:
    """Correct a fact: what it states, its quote, or both."""
    return revise(bench, run_id, head, [FactEdit(fact, statement, quote)])


def find_unsupported_facts(view: RunSnapshot, edits: Sequence[FactEdit]) -> list[Fact]:
    """The facts of these edits whose quote does not support their statement any more."""
    reworded = [view.state.facts[edit.id] for edit in edits if edit.is_reworded]
    return [fact for fact in reworded if fact.is_from_page and not fact.verified]


def add(
    bench: ActionContext,
    run_id: str,
    head: int | None,
    statement: Annotated[str, Field(description="the fact, in a sentence")],
    url: Annotated[str, Field(description="the page it is on; without it, it is your own knowledge")] = "",
    quote: Annotated[str, Field(description="its words on that page")] = "",
) -> int:
    """Add a fact: from a page with its quote, or as your own knowledge, which no page backs."""
    given = bool(url.strip()) + bool(quote.strip())
    if given == 1:
        raise UsageError(
            "a fact from a page needs the page's address and an exact quote; leave out both for your own "
            "knowledge"
        )
    page, page_id = _find_or_fetch_page(bench, bench.snapshot(run_id), url) if given else (None, "")
    make_step = partial(add_fact, statement=statement, quote=quote, page=page, page_id=page_id)
    return commit(bench, run_id, "add", make_step, head=head)


def add_fact(
    view: RunSnapshot, statement: str, quote: str = "", page: Page | None = None, page_id: str = ""
) -> PersonStep:
    """The step that adds a fact that a person read on a page, checked against the stored text, with its page
    where the run does not know it; without a page their own knowledge, which the answer may use and no page
    supports. Raises UsageError when the quote is not there or does not support the statement."""
    state, step = view.state, view.head + 1
    words = _clean_text("quote", quote) if page else _clean_text("statement", statement)
    text = (statement.strip() or words) if page else words
    origin = (page_id, words, text) if page else ("a person", text)
    fact = Fact(id=make_fact_id(*origin), statement=text, quote=words, step=step, by="person")
    refs = list[PageRef]()
    if page is None:
        fact = fact.replace(origin="person", decision="pinned", trust=1.0)
    else:
        fact = fact.replace(page_id=page_id, trust=assess_trust(page).value, **cite_page(page))
        fact = verify_quote(fact, page.text, page.sha256)
        if not fact.verified or contradicts_quote(fact, page.text):
            raise UsageError(_explain_missing_quote(words, page))
        ref = refer_to_stored(page, page_id, "person", step, url=page.url, final_url=page.final_url)
        refs = [mark_read(ref, page, facts=1)] if page.url not in state.pages else []
    if existing := state.facts.get(fact.id):
        hint = ": restore it" if existing.decision == "struck" else ""
        raise UsageError(f"the run has this fact already ({existing.id}){hint}")
    said = Edit(step=step, text=f"added 1 fact of {site(fact.url) if page else 'your own knowledge'}")
    change: Change = {"facts": [_score(state, fact).replace(marked=step)], "edits": [said]}
    return edit_step(view, {**change, "pages": refs} if refs else change)


def edit_facts(view: RunSnapshot, edits: Sequence[FactEdit], pages: Mapping[str, Page]) -> PersonStep:
    """The step of one edit of some facts, named for what it does when all do one thing; `pages` are the
    stored pages, by id, of those whose texts change. Raises NotFound for an unknown fact, UsageError when
    nothing would change or an edit is invalid."""
    if not edits:
        raise UsageError("choose at least one fact first")
    state, step, changed = view.state, view.head + 1, list[tuple[Fact, Fact]]()
    counting = fact_view.facts_after_notes(state)
    for edit in edits:
        if edit.id not in state.facts:
            raise NotFound(f"there is no fact {clip(edit.id)} in this run")
        if edit.decision in ("none", "pinned") and edit.id not in counting:
            raise UsageError(
                "a note leaves this fact out for good: branch the run from a step before the note instead"
            )
        old = state.facts[edit.id]
        new = _reword_fact(state, old, edit, pages) if edit.is_reworded else old
        if edit.decision not in (None, new.decision):  # a person's own knowledge is either pinned or struck
            decision = "pinned" if new.is_own_knowledge and edit.decision == "none" else edit.decision
            new = new.replace(decision=decision, struck_with="")
        if new != old:
            changed.append((old, new))
    if not changed:
        raise UsageError("nothing changed: the facts are like that already")
    marks = {edit.decision for edit in edits}
    name = "correct" if marks == {None} else "revise"
    if len(marks) == 1 and not any(edit.is_reworded for edit in edits):
        names = {_name_mark(old, new.decision) for old, new in changed}
        name = names.pop() if len(names) == 1 else "restore"
    said = Edit(step=step, text=_describe_edits(changed))
    return edit_step(view, {"facts": [new.replace(marked=step) for _, new in changed], "edits": [said]}, name)


def _find_or_fetch_page(bench: ActionContext, view: RunSnapshot, url: str) -> tuple[Page, str]:
    """The page of an address with its id: the run's stored one, or fetched now within the run's domains."""
    settings = view.run.settings
    url = require_allowed_url(url, None)
    address = canonicalize(url)
    for ref in view.state.pages.values():
        if ref.page_id and address in (canonicalize(ref.url), canonicalize(ref.final_url)):
            return bench.store.pages.get(ref.page_id), ref.page_id
    require_allowed_url(url, settings)
    fetched = bench.worker.world(settings.world).fetch(url, reach=settings)
    page = search_results.filter_page(fetched, settings)
    if page.outcome is not Outcome.OK:
        why = (page.detail or page.outcome.replace("_", " ")).rstrip(".")
        raise UsageError(
            f"{url} could not be read: {why}. Add the fact as your own knowledge, or name another page"
        )
    return page, bench.store.pages.put(page)


def _reword_fact(state: RunState, fact: Fact, edit: FactEdit, pages: Mapping[str, Page]) -> Fact:
    statement = _clean_text("statement", fact.statement if edit.statement is None else edit.statement)
    quote = statement
    if not fact.is_own_knowledge:
        quote = _clean_text("quote", fact.quote if edit.quote is None else edit.quote)
    if (statement, quote) == (fact.statement, fact.quote):
        return fact
    former = (fact.former or fact.statement) if statement != fact.statement else fact.former
    new = fact.replace(statement=statement, quote=quote, former="" if statement == former else former)
    if quote != fact.quote:
        new = new.replace(flagged="")  # a person chose these words
    page = pages.get(fact.page_id)
    if page is not None:
        if edit.quote is not None and quote != fact.quote and find_quote(quote, page.text) is None:
            raise UsageError(_explain_missing_quote(quote, page))
        new = verify_quote(new, page.text, page.sha256)
        if not new.verified or contradicts_quote(new):  # then it rests on the person
            new = new.replace(verified=False, start=-1, end=-1, spans=[])
    elif fact.is_from_page:
        new = new.replace(verified=False)
    return new if new.quote == fact.quote else _score(state, new)


def _score(state: RunState, fact: Fact) -> Fact:
    return fact.replace(relevance=score_fact(state.own.relevance_question(state), fact))


def _clean_text(what: str, text: str) -> str:
    cleaned = " ".join(text.split()) if what == "statement" else text.strip()
    if not cleaned:
        raise UsageError(f"the {what} is empty")
    if len(cleaned) > MAX_TEXT_CHARS:
        raise UsageError(f"the {what} has {len(cleaned):,} characters; {MAX_TEXT_CHARS:,} are the most")
    return cleaned


def _explain_missing_quote(quote: str, page: Page) -> str:
    where = page.title or page.final_url or page.url
    if find_quote(quote, page.text) is None:
        return (
            f"“{clip(quote)}” is not on the page “{clip(where)}”: copy the exact words, or add it as your "
            "own knowledge"
        )
    return (
        "the quote is on the page, but is too short or does not support the statement: take a longer "
        "quote, or "
        "state no more than it says"
    )


def _describe_edits(changed: Sequence[tuple[Fact, Fact]]) -> str:
    """The text of the edit: "struck 3 facts of example.org, corrected 1 fact"."""
    groups: dict[str, list[Fact]] = {}
    verbs = {"pin": "pinned", "unpin": "unpinned", "strike": "excluded", "restore": "restored"}
    for old, new in changed:
        if (old.statement, old.quote) != (new.statement, new.quote):
            groups.setdefault("corrected", []).append(new)
        if old.decision != new.decision:
            groups.setdefault(verbs[_name_mark(old, new.decision)], []).append(new)
    described = []
    for verb, facts in groups.items():
        names = {site(fact.url) for fact in facts}
        of = f" of {min(names)}" if len(names) == 1 and names != {""} else ""
        described.append(f"{verb} {format_count(len(facts), 'fact')}{of}")
    return ", ".join(described)


def _name_mark(old: Fact, decision: PersonMark) -> str:
    """The name of the step that gives a fact this mark."""
    undone = "unpin" if old.decision == "pinned" else "restore"
    return {"pinned": "pin", "struck": "strike", "none": undone}[decision]
