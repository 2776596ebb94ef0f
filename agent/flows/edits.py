"""What a person may do to the facts of a run, each as one change: mark, correct, add, strike a source, take back. Pure functions.

Nothing is ever deleted: an edit is a step, and taking it back is another. What an edit says of itself ("struck 3 facts of
example.org") stands on the undo button, on the journey and at the top of the rewritten answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.errors import NotFound, UsageError
from agent.evidence.quotes import locate, verify
from agent.evidence.trust import of_page
from agent.evidence.values import carried, grounded
from agent.flows import moves
from agent.flows.revising import asked, revised
from agent.flows.state import Research
from agent.roles.answering import fact_score
from agent.state import Change
from agent.types import Fact, Mark, Page, PageRef, Sentence
from agent.urls import canonical, site
from agent.wording import counted

LONGEST = 2000
"""Characters of a statement or quote that a person writes."""
DONE: dict[Mark, str] = {"pinned": "pinned", "struck": "struck", "none": "restored"}


@dataclass(frozen=True)
class Draft:
    """What is to become of one fact; None leaves a part as it is."""

    id: str
    statement: str | None = None
    quote: str | None = None
    decision: Mark | None = None


@dataclass(frozen=True)
class Falls:
    """What striking a source takes with it: its facts that count now, the answer's sentences that lose all their support, and some of it."""

    source: str
    facts: list[Fact]
    sentences: list[Sentence]
    weakened: list[Sentence]


def edited(state: Research, step: int, drafts: Iterable[Draft], pages: Mapping[str, Page]) -> Change:
    """The change of one edit, of one fact or of many; `pages` are the stored pages of the facts whose words change, by id.

    Raises NotFound for an unknown fact, UsageError when nothing would change or something cannot be.
    """
    facts = [(_fact(state, draft.id), draft) for draft in drafts]
    new = [_drafted(state, fact, draft, pages) for fact, draft in facts]
    changed = [(old, now) for (old, _), now in zip(facts, new, strict=True) if now != old]
    if not changed:
        raise UsageError("nothing changed: it stands like that already")
    return revised(state, step, facts=[now for _, now in changed], why=_told(changed))


def added(state: Research, step: int, fact: Fact, ref: PageRef | None = None) -> Change:
    """The change of a fact that a person adds; with the page it was found on, when the run did not know that."""
    there = state.facts.get(fact.id)
    if there:
        raise UsageError(f"this fact is there already ({there.id}){': restore it' if there.decision == 'struck' else ''}")
    where = f" of {site(fact.url)}" if fact.url else " of your own knowledge"
    change = revised(state, step, facts=[fact], why=f"added 1 fact{where}")
    return {**change, **({"pages": [ref]} if ref and ref.url not in state.pages else {})}


def own_knowledge(state: Research, step: int, statement: str) -> Fact:
    """A person's own knowledge as a fact: it may stand in the answer, and is never backed by a page."""
    text = _text("statement", statement)
    fact = Fact(id=_id("a person", text), statement=text, quote=text, origin="person", decision="pinned", trust=1.0, step=step, by="person")
    return fact.model_copy(update={"relevance": fact_score(asked(state), fact)})


def quoted(state: Research, step: int, statement: str, quote: str, page: Page, page_id: str) -> Fact:
    """A fact that a person read on a page, checked against the page's stored text. Raises UsageError when it does not stand there."""
    words = _text("quote", quote)
    text = statement.strip() or words
    fact = Fact(
        id=_id(page_id, words, text), statement=text, quote=words, page_id=page_id, url=page.final_url or page.url, title=page.title,
        fetched_at=page.fetched_at, published_at=page.published_at, step=step, by="person", given=page.origin,
        trust=of_page(page, state.trusts.get(site(page.final_url or page.url))).value,
    )  # fmt: skip
    found = verify(fact, page.text, page.sha256)
    if not found.verified:
        raise UsageError(_why_not(words, page))
    return found.model_copy(update={"relevance": fact_score(asked(state), found)})


def falls(state: Research, source: str) -> Falls:
    """What striking this source (a page's address or a site) would take with it."""
    name = named(state, source)
    facts = [fact for fact in state.facts.values() if moves.of_source(fact.url, name) and fact.decision != "struck"]
    gone = {fact.id for fact in facts}
    cited = [sentence for sentence in (state.answer.sentences if state.answer else []) if gone.intersection(sentence.fact_ids)]
    fallen = [sentence for sentence in cited if not any(i in state.facts and state.facts[i].usable for i in set(sentence.fact_ids) - gone)]
    return Falls(name, facts, fallen, [sentence for sentence in cited if sentence not in fallen])


def named(state: Research, source: str) -> str:
    """The source as it is kept: an address of a page the run knows, a site or host. Raises UsageError when nothing is of it."""
    text = source.strip()
    spelled = canonical(text) if "://" in text else text.lower().removeprefix("www.").rstrip("/")
    known = {fact.url for fact in state.facts.values() if fact.url} | {page.final_url or page.url for page in state.pages.values()}
    exact = text if text in known or text in map(site, known) else spelled
    if not exact or not any(moves.of_source(url, exact) for url in known):
        raise UsageError(f"nothing of this run is from “{text[:120]}”: name a site like example.org, or the address of a page that was read")
    return exact


def source_struck(state: Research, step: int, source: str) -> Change:
    """Strike a source: its facts are struck, and so is what will be read from it later."""
    fall = falls(state, source)
    if fall.source in state.struck_sources and not fall.facts:
        raise UsageError(f"{fall.source} is struck already")
    facts = [fact.model_copy(update={"decision": "struck", "struck_with": fall.source}) for fact in fall.facts]
    why = f"struck the source {fall.source} with {counted(len(facts), 'fact')}"
    return {**revised(state, step, facts=facts, why=why), "struck_sources": list(dict.fromkeys([*state.struck_sources, fall.source]))}


def source_restored(state: Research, step: int, source: str) -> Change:
    """Take a source in again, with the facts that were struck with it."""
    name = source.strip() if source.strip() in state.struck_sources else named(state, source)
    if name not in state.struck_sources:
        raise UsageError(f"{name} is not struck")
    left = [other for other in state.struck_sources if other != name]
    back = [fact.model_copy(update={"decision": "none", "struck_with": ""}) for fact in state.facts.values() if fact.struck_with == name]
    facts = moves.heeding(state.model_copy(update={"struck_sources": left}), back)
    stands = sum(fact.decision == "none" for fact in facts)
    change = revised(state, step, facts=facts, why=f"restored the source {name} with {counted(stands, 'fact')}")
    return {**change, "struck_sources": left}


def _fact(state: Research, name: str) -> Fact:
    if name not in state.facts:
        raise NotFound(f"there is no fact {name[:40]} in this run")
    return state.facts[name]


def _drafted(state: Research, fact: Fact, draft: Draft, pages: Mapping[str, Page]) -> Fact:
    now = _reworded(state, fact, draft, pages) if draft.statement is not None or draft.quote is not None else fact
    if draft.decision is None or draft.decision == now.decision:
        return now
    if now.own and draft.decision == "none":
        draft = Draft(draft.id, decision="pinned")  # a person's own knowledge counts, or it is struck
    return now.model_copy(update={"decision": draft.decision, "struck_with": ""})


def _reworded(state: Research, fact: Fact, draft: Draft, pages: Mapping[str, Page]) -> Fact:
    statement = _text("statement", fact.statement if draft.statement is None else draft.statement)
    quote = statement if fact.own else _text("quote", fact.quote if draft.quote is None else draft.quote)
    if (statement, quote) == (fact.statement, fact.quote):
        return fact
    former = (fact.former or fact.statement) if statement != fact.statement else fact.former
    now = fact.model_copy(update={"statement": statement, "quote": quote, "former": "" if statement == former else former})
    page = pages.get(fact.page_id)
    if page is not None:
        if draft.quote is not None and quote != fact.quote and locate(quote, page.text) is None:
            raise UsageError(_why_not(quote, page))
        now = _checked(fact, verify(now, page.text, page.sha256))
    elif fact.origin == "page":
        now = now.model_copy(update={"verified": False})
    return now if now.quote == fact.quote else now.model_copy(update={"relevance": fact_score(asked(state), now)})


def _checked(old: Fact, now: Fact) -> Fact:
    """A corrected fact is only verified when its quote carries it: its words and figures stand there, or stood in what was verified before.

    What is around a quote may speak for a reader's extract; for a person's other words it is too little.
    """
    there = [now.quote, now.title, *([old.statement] if old.verified else [])]
    good = now.verified and (now.statement in now.quote or (grounded(now.statement, *there) and carried(now.statement, *there)))
    return now if good else now.model_copy(update={"verified": False, "start": -1, "end": -1})


def _text(what: str, text: str) -> str:
    said = " ".join(text.split()) if what == "statement" else text.strip()
    if not said:
        raise UsageError(f"the {what} is empty")
    if len(said) > LONGEST:
        raise UsageError(f"the {what} has {len(said):,} characters; {LONGEST:,} are the most")
    return said


def _id(*parts: str) -> str:
    return "f" + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:7]


def _why_not(quote: str, page: Page) -> str:
    where = page.title or page.final_url or page.url
    if locate(quote, page.text) is None:
        return f"“{quote[:80]}” does not stand on “{where[:80]}”: copy the words exactly as they stand there, or add it as your own knowledge"
    return "the quote stands on the page, but is too short or does not carry what you state: take a longer one, or say no more than it says"


def _told(changed: Sequence[tuple[Fact, Fact]]) -> str:
    """What was done, in words: "struck 3 facts of example.org, corrected 1 fact"."""
    piles: dict[str, list[Fact]] = {}
    for old, now in changed:
        if (old.statement, old.quote) != (now.statement, now.quote):
            piles.setdefault("corrected", []).append(now)
        if old.decision != now.decision:
            done = "unpinned" if now.decision == "none" and old.decision == "pinned" else DONE[now.decision]
            piles.setdefault(done, []).append(now)
    return ", ".join(f"{done} {counted(len(facts), 'fact')}{_of(facts)}" for done, facts in piles.items()) or "changed nothing that shows"


def _of(facts: Sequence[Fact]) -> str:
    sites = {site(fact.url) for fact in facts}
    return f" of {only}" if len(sites) == 1 and (only := next(iter(sites))) else ""
