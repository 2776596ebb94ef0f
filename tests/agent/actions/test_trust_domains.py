"""A person's word on a domain changes what its facts count, and the list tells who is trusted how far and
why."""

from __future__ import annotations

import pytest

from agent.actions.trust import RESET_TRUST, group_by_domain, normalize_domain, set_trust
from agent.engine.run_state import RunState
from agent.engine.state import merge, shallow_copy, to_jsonable
from agent.errors import UsageError
from agent.flows.shared.confidence import assess_confidence
from agent.flows.shared.recompute import recompute_after_edit
from agent.types import Fact, PageRef


def said(name: str, statement: str, url: str, **marks) -> Fact:
    return Fact(
        id=name,
        statement=statement,
        quote=statement,
        url=url,
        page_id=f"p{name}",
        sha256=name,
        verified=True,
        relevance=0.9,
        trust=0.6,
        **marks,
    )


A = said("a", "Berga dairy was founded in 1974.", "https://www.one.example/a")
B = said("b", "Berga dairy was founded in 1979.", "https://forum.two.example/b")
PAGES = [PageRef(url=fact.url, page_id=fact.page_id, trust=0.65, trust_why=["dated"]) for fact in (A, B)]


def knowing(*facts: Fact, model: float | None = None) -> RunState:
    state = RunState(question="When was Berga dairy founded?")
    if model is not None:
        state = merge(state, to_jsonable({"confidence": [assess_confidence(state, 0, facts, model=model)]}))
    return merge(
        state, to_jsonable({**recompute_after_edit(state, 1, facts=facts), "pages": PAGES[: len(facts)]})
    )


def after(state: RunState, *word) -> RunState:
    return merge(shallow_copy(state), to_jsonable(set_trust(state, 2, *word)))


def test_a_lower_trust_lowers_the_confidence_and_says_why():
    state = knowing(A)
    now = after(state, "one.example", 0.1, "an advertiser")
    assert (
        now.facts["a"].trust == 0.1
        and now.facts["a"].can_support
        and now.current_confidence < state.current_confidence
    )
    assert now.confidence[-1].moves[0].reason == (
        "trust of one.example: low (0.10): its sources are trusted less"
    )
    assert (now.trusts["one.example"].reason, now.edits[-1].text) == (
        "an advertiser",
        "trust of one.example: low (0.10), because an advertiser",
    )


def test_a_source_that_is_not_trusted_at_all_is_not_heard():
    state = knowing(A, B)
    assert state.facts["a"].disputed and not state.facts["a"].can_support
    now = after(state, "two.example", 0.0)
    assert now.facts["a"].can_support and not now.facts["b"].can_support and not now.facts["b"].is_active
    assert [conflict.status for conflict in now.conflicts.values()] == ["settled"]
    alone = after(knowing(B), "two.example", 0.0)
    assert alone.current_confidence == 0.0, "it can't support an answer alone"
    pinned = after(knowing(B.model_copy(update={"decision": "pinned"})), "two.example", 0.0)
    assert pinned.facts["b"].can_support, "what a person pinned counts all the same"


def test_full_trust_makes_one_voice_enough():
    state = knowing(A, model=1.0)
    assert state.current_confidence < 0.9 <= after(state, "one.example", 1.0).current_confidence
    unread = knowing(A)
    trusted = after(unread, "one.example", 1.0).current_confidence
    assert unread.current_confidence < trusted < 0.8, "without a model it is never sure"


def test_a_word_is_taken_back_to_what_the_signs_say():
    state = after(knowing(A), "one.example", 0.1)
    now = after(state, "one.example", RESET_TRUST)
    assert (
        now.facts["a"].trust == 0.65
        and group_by_domain(now)[0].reasons == ["dated"]
        and group_by_domain(now)[0].rating is None
    )


def test_what_changes_nothing_is_refused():
    state = after(knowing(A), "one.example", 0.3, "x")
    with pytest.raises(UsageError, match="has that trust already"):
        set_trust(state, 3, "one.example", 0.3, "x")
    assert set_trust(state, 3, "one.example", 0.3, "another reason")["trusts"]
    with pytest.raises(UsageError, match="this run has nothing"):
        set_trust(state, 3, "nine.example", 0.3)
    with pytest.raises(UsageError, match="from 0"):
        set_trust(state, 3, "one.example", 30.0)


def test_the_domains_with_their_voices():
    copy = "Berga dairy, the oldest of the valley, was founded in 1974 by two sisters of the village school."
    state = knowing(
        A, B, said("c", copy, "https://three.example/c"), said("d", copy, "https://four.example/d")
    )
    found = {domain.name: domain for domain in group_by_domain(state)}
    assert list(found) == ["one.example", "two.example", "four.example", "three.example"], (
        "those with pages first, then by name"
    )
    assert found["three.example"].copies == ["four.example"] and found["one.example"].copies == []
    assert (found["one.example"].trust, found["one.example"].reasons, len(found["one.example"].pages)) == (
        0.6,
        ["your rating, for every run"],
        1,
    )


@pytest.mark.parametrize(
    ("typed", "domain"),
    [
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("https://a.one.example/x", "one.example"),
        (" One.Example ", "one.example"),
        ("file:notes.md", "notes.md"),
    ],
)
def test_a_domain_is_the_registrable_one(typed, domain):
    assert normalize_domain(typed) == domain


@pytest.mark.parametrize("typed", ["", "  ", "nonsense", "two words.example"])
def test_what_is_no_domain(typed):
    with pytest.raises(UsageError, match="not a domain"):
        normalize_domain(typed)
