"""What a person may do to the facts of a run, each as one change: mark, correct, add, strike a source, take
back. Pure functions.

Nothing is ever deleted: an edit is a step, and taking it back is another. What an edit says of itself
("excluded 3 facts of example.org") stands on the undo button, on the journey and at the top of the rewritten
answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.evidence.quote_match import find_quote, verify_quote
from agent.evidence.source_trust import assess_trust
from agent.evidence.statement_features import has_supported_figures, has_supported_words
from agent.flows.shared import fact_view
from agent.flows.shared.recompute import recompute_after_edit
from agent.retrieval.relevance import score_fact
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, site
from agent.types import Fact, Page, PageRef, PersonMark, Sentence
from agent.types.facts import make_fact_id

MAX_TEXT_CHARS = 2000
"""Characters of a statement or quote that a person writes."""
DECISION_VERBS: dict[PersonMark, str] = {"pinned": "pinned", "struck": "excluded", "none": "restored"}


@dataclass(frozen=True)
class FactEdit:
    """What is to become of one fact; None leaves a part as it is."""

    id: str
    statement: str | None = None
    quote: str | None = None
    decision: PersonMark | None = None


@dataclass(frozen=True)
class StrikeImpact:
    """What striking a source takes with it: its facts that count now, the answer's sentences that lose all
    their support, and some of it."""

    source: str
    facts: list[Fact]
    sentences: list[Sentence]
    weakened: list[Sentence]


def edit_facts(state: RunState, step: int, drafts: Iterable[FactEdit], pages: Mapping[str, Page]) -> Change:
    """The change of one edit, of one fact or of many; `pages` are the stored pages of the facts whose words
    change, by id.

    Raises NotFound for an unknown fact, UsageError when nothing would change or something cannot be."""
    facts = [(_find_fact(state, draft.id), draft) for draft in drafts]
    new = [_apply_edit(state, fact, draft, pages) for fact, draft in facts]
    changed = [(old, now) for (old, _), now in zip(facts, new, strict=True) if now != old]
    if not changed:
        raise UsageError("nothing changed: it stands like that already")
    return recompute_after_edit(state, step, facts=[now for _, now in changed], why=_describe_edits(changed))


def add_fact(state: RunState, step: int, fact: Fact, ref: PageRef | None = None) -> Change:
    """The change of a fact that a person adds; with the page it was found on, when the run did not know
    that."""
    there = state.facts.get(fact.id)
    if there:
        raise UsageError(
            f"this fact is there already ({there.id}){': restore it' if there.decision == 'struck' else ''}"
        )
    where = f" of {site(fact.url)}" if fact.url else " of your own knowledge"
    change = recompute_after_edit(state, step, facts=[fact], why=f"added 1 fact{where}")
    return {**change, **({"pages": [ref]} if ref and ref.url not in state.pages else {})}


def build_own_fact(state: RunState, step: int, statement: str) -> Fact:
    """A person's own knowledge as a fact: it may stand in the answer, and is never backed by a page."""
    text = _clean_text("statement", statement)
    fact = Fact(
        id=make_fact_id("a person", text),
        statement=text,
        quote=text,
        origin="person",
        decision="pinned",
        trust=1.0,
        step=step,
        by="person",
    )
    return fact.model_copy(update={"relevance": score_fact(state.own.relevance_question(state), fact)})


def build_quoted_fact(
    state: RunState, step: int, statement: str, quote: str, page: Page, page_id: str
) -> Fact:
    """A fact that a person read on a page, checked against the page's stored text. Raises UsageError when it
    does not stand there."""
    words = _clean_text("quote", quote)
    text = statement.strip() or words
    fact = Fact(
        id=make_fact_id(page_id, words, text),
        statement=text,
        quote=words,
        page_id=page_id,
        url=page.final_url or page.url,
        title=page.title,
        fetched_at=page.fetched_at,
        published_at=page.published_at,
        step=step,
        by="person",
        given=page.origin,
        trust=assess_trust(page, state.trusts.get(site(page.final_url or page.url))).value,
    )
    found = verify_quote(fact, page.text, page.sha256)
    if not found.verified:
        raise UsageError(_explain_missing_quote(words, page))
    return found.model_copy(update={"relevance": score_fact(state.own.relevance_question(state), found)})


def preview_strike(state: RunState, source: str) -> StrikeImpact:
    """What striking this source (a page's address or a site) would take with it."""
    name = resolve_source(state, source)
    facts = [
        fact
        for fact in state.facts.values()
        if fact_view.is_from_source(fact.url, name) and fact.decision != "struck"
    ]
    gone = {fact.id for fact in facts}
    cited = [
        sentence
        for sentence in (state.answer.sentences if state.answer else [])
        if gone.intersection(sentence.fact_ids)
    ]
    fallen = [
        sentence
        for sentence in cited
        if not any(i in state.facts and state.facts[i].can_support for i in set(sentence.fact_ids) - gone)
    ]
    return StrikeImpact(name, facts, fallen, [sentence for sentence in cited if sentence not in fallen])


def resolve_source(state: RunState, source: str) -> str:
    """The source as it is kept: an address of a page the run knows, a site or host. Raises UsageError when
    nothing is of it."""
    text = source.strip()
    spelled = canonicalize(text) if "://" in text else text.lower().removeprefix("www.").rstrip("/")
    known = {fact.url for fact in state.facts.values() if fact.url} | {
        page.final_url or page.url for page in state.pages.values()
    }
    exact = text if text in known or text in map(site, known) else spelled
    if not exact or not any(fact_view.is_from_source(url, exact) for url in known):
        raise UsageError(
            f"nothing of this run is from “{text[:120]}”: name a site like example.org, or the address of a page that was read"
        )
    return exact


def strike_source(state: RunState, step: int, source: str) -> Change:
    """Strike a source: its facts are struck, and so is what will be read from it later."""
    fall = preview_strike(state, source)
    if fall.source in state.struck_sources and not fall.facts:
        raise UsageError(f"{fall.source} is excluded already")
    facts = [
        fact.model_copy(update={"decision": "struck", "struck_with": fall.source}) for fact in fall.facts
    ]
    why = f"excluded the source {fall.source} with {format_count(len(facts), 'fact')}"
    return {
        **recompute_after_edit(state, step, facts=facts, why=why),
        "struck_sources": list(dict.fromkeys([*state.struck_sources, fall.source])),
    }


def restore_source(state: RunState, step: int, source: str) -> Change:
    """Take a source in again, with the facts that were struck with it."""
    name = source.strip() if source.strip() in state.struck_sources else resolve_source(state, source)
    if name not in state.struck_sources:
        raise UsageError(f"{name} is not excluded")
    left = [other for other in state.struck_sources if other != name]
    back = [
        fact.model_copy(update={"decision": "none", "struck_with": ""})
        for fact in state.facts.values()
        if fact.struck_with == name
    ]
    facts = fact_view.apply_person_marks(state.model_copy(update={"struck_sources": left}), back)
    stands = sum(fact.decision == "none" for fact in facts)
    change = recompute_after_edit(
        state, step, facts=facts, why=f"restored the source {name} with {format_count(stands, 'fact')}"
    )
    return {**change, "struck_sources": left}


def _find_fact(state: RunState, name: str) -> Fact:
    if name not in state.facts:
        raise NotFound(f"there is no fact {name[:40]} in this run")
    return state.facts[name]


def _apply_edit(state: RunState, fact: Fact, draft: FactEdit, pages: Mapping[str, Page]) -> Fact:
    now = (
        _reword_fact(state, fact, draft, pages)
        if draft.statement is not None or draft.quote is not None
        else fact
    )
    if draft.decision is None or draft.decision == now.decision:
        return now
    if now.is_own_knowledge and draft.decision == "none":
        draft = FactEdit(draft.id, decision="pinned")  # a person's own knowledge counts, or it is struck
    return now.model_copy(update={"decision": draft.decision, "struck_with": ""})


def _reword_fact(state: RunState, fact: Fact, draft: FactEdit, pages: Mapping[str, Page]) -> Fact:
    statement = _clean_text("statement", fact.statement if draft.statement is None else draft.statement)
    quote = (
        statement
        if fact.is_own_knowledge
        else _clean_text("quote", fact.quote if draft.quote is None else draft.quote)
    )
    if (statement, quote) == (fact.statement, fact.quote):
        return fact
    former = (fact.former or fact.statement) if statement != fact.statement else fact.former
    now = fact.model_copy(
        update={"statement": statement, "quote": quote, "former": "" if statement == former else former}
    )
    page = pages.get(fact.page_id)
    if page is not None:
        if draft.quote is not None and quote != fact.quote and find_quote(quote, page.text) is None:
            raise UsageError(_explain_missing_quote(quote, page))
        now = _recheck_quote(fact, verify_quote(now, page.text, page.sha256))
    elif fact.origin == "page":
        now = now.model_copy(update={"verified": False})
    return (
        now
        if now.quote == fact.quote
        else now.model_copy(update={"relevance": score_fact(state.own.relevance_question(state), now)})
    )


def _recheck_quote(old: Fact, now: Fact) -> Fact:
    """A corrected fact is only verified when its quote carries it: its words and figures stand there, or
    stood in what was verified before.

    What is around a quote may speak for a reader's extract; for a person's other words it is too little."""
    there = [now.quote, now.title, *([old.statement] if old.verified else [])]
    good = now.verified and (
        now.statement in now.quote
        or (has_supported_figures(now.statement, *there) and has_supported_words(now.statement, *there))
    )
    return now if good else now.model_copy(update={"verified": False, "start": -1, "end": -1})


def _clean_text(what: str, text: str) -> str:
    said = " ".join(text.split()) if what == "statement" else text.strip()
    if not said:
        raise UsageError(f"the {what} is empty")
    if len(said) > MAX_TEXT_CHARS:
        raise UsageError(f"the {what} has {len(said):,} characters; {MAX_TEXT_CHARS:,} are the most")
    return said


def _explain_missing_quote(quote: str, page: Page) -> str:
    where = page.title or page.final_url or page.url
    if find_quote(quote, page.text) is None:
        return f"“{quote[:80]}” does not stand on “{where[:80]}”: copy the words exactly as they stand there, or add it as your own knowledge"
    return "the quote stands on the page, but is too short or does not carry what you state: take a longer one, or say no more than it says"


def _describe_edits(changed: Sequence[tuple[Fact, Fact]]) -> str:
    """What was done, in words: "struck 3 facts of example.org, corrected 1 fact"."""
    piles: dict[str, list[Fact]] = {}
    for old, now in changed:
        if (old.statement, old.quote) != (now.statement, now.quote):
            piles.setdefault("corrected", []).append(now)
        if old.decision != now.decision:
            done = (
                "unpinned"
                if now.decision == "none" and old.decision == "pinned"
                else DECISION_VERBS[now.decision]
            )
            piles.setdefault(done, []).append(now)
    return (
        ", ".join(
            f"{done} {format_count(len(facts), 'fact')}{_describe_common_site(facts)}"
            for done, facts in piles.items()
        )
        or "changed nothing that shows"
    )


def _describe_common_site(facts: Sequence[Fact]) -> str:
    sites = {site(fact.url) for fact in facts}
    return f" of {only}" if len(sites) == 1 and (only := next(iter(sites))) else ""
