"""The next action by rule, and the shape that a model's next action must have."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.roles.next_step import (
    MAX_FOLLOW_UP_SEARCHES,
    MAX_PAGES_NAMED,
    MAX_PAGES_ONE,
    MAX_PAGES_SEVERAL,
    Decision,
)
from agent.roles.note_requests import read_note
from agent.roles.research import DECISION, DecisionReply
from agent.roles.research import decision_fallback as fallback
from agent.types import Action, Fact, Lead, Outcome, Refusal, Stall

DUCK, GOOGLE, CRAWL, HUMAN = "search_duckduckgo", "search_google", "crawl_url", "send_to_hitl"
ALL = [DUCK, GOOGLE, CRAWL, HUMAN]
QUESTION = "When was the ferry Blue Heron built?"
HOPS = "How old are the children of the couple who run Älvmora Mejeri?"


def decide(question: str = QUESTION, **given: Any) -> Any:
    blanks = {
        "notes": [],
        "report": None,
        "history": [],
        "facts": [],
        "leads": [],
        "actions": ALL,
        "blockage": None,
        "threshold": 0.85,
        "remaining": 9,
    }
    wishes = [topic for note in reversed(given.get("notes", [])) for topic in read_note(note).topics]
    [action] = fallback(question=question, **{**blanks, "wishes": wishes, **given}).actions
    return action


def next_of(question: str = QUESTION, **given: Any) -> tuple[str, str]:
    decision = decide(question, **given)
    assert decision.reasoning
    return decision.next_action, decision.query_or_url


def search(query: str = QUESTION, action: str = DUCK, outcome: Outcome = Outcome.OK, **more: Any) -> Action:
    return Action(
        **{
            "step": 2,
            "action": action,
            "query_or_url": query,
            "outcome": outcome,
            "hits": 5 if outcome is Outcome.OK else 0,
            **more,
        }
    )


def crawl(url: str, **more: Any) -> Action:
    return Action(**{"step": 5, "action": CRAWL, "query_or_url": url, "page_id": "p", **more})


def link(url: str, score: float = 0.5, **more: Any) -> Lead:
    return Lead(
        **{"id": url, "kind": "url", "value": url, "text": "a page", "score": score, "prior": score, **more}
    )


def fact(quote: str, title: str = "", **more: Any) -> Fact:
    return Fact(
        **{
            "id": quote[:9],
            "statement": quote,
            "quote": quote,
            "title": title,
            "url": "https://a.example/",
            "verified": True,
            **more,
        }
    )


CLEAR = [fact("The ferry Blue Heron was built in 1907.")]
COUPLE = [fact("Älvmora Mejeri is run by the couple Ragnhild Tjäder and Emil Tjäder.")]


def test_the_first_action_is_to_search_for_the_question_and_says_why() -> None:
    decision = decide()
    assert (decision.next_action, decision.query_or_url) == (DUCK, QUESTION)
    assert "question itself" in decision.reasoning and "DuckDuckGo" not in decision.reasoning
    google = decide(actions=[GOOGLE, CRAWL, HUMAN])
    assert google.next_action == GOOGLE and "Google" in google.reasoning


def test_an_address_in_the_question_is_read_at_once_and_then_the_second() -> None:
    question = "Compare https://a.example/x with https://b.example/y."
    assert next_of(question) == (CRAWL, "https://a.example/x")
    assert next_of(question, history=[crawl("https://a.example/x/")]) == (CRAWL, "https://b.example/y")
    assert next_of(question, actions=[DUCK, HUMAN])[0] == DUCK


def test_without_an_engine_a_lead_is_read_or_the_person_is_asked() -> None:
    assert next_of(actions=[CRAWL, HUMAN], leads=[link("https://a.example/")]) == (
        CRAWL,
        "https://a.example/",
    )
    assert next_of(actions=[CRAWL, HUMAN]) == (HUMAN, "")


def test_a_first_search_that_the_person_skipped_is_narrowed() -> None:
    action, query = next_of(refused=[Refusal(what=QUESTION, why="skipped by a person")])
    assert action == DUCK and query and query != QUESTION


@pytest.mark.parametrize("history", [[], [search()], [search(), crawl("https://a.example/")]], ids=len)
@pytest.mark.parametrize("blockage", [None, Stall(rung="narrow", reason="stuck")], ids=["", "stuck"])
def test_a_note_is_obeyed_before_anything(history: list[Action], blockage: Stall | None) -> None:
    given: dict[str, Any] = {
        "history": history,
        "blockage": blockage,
        "facts": CLEAR,
        "leads": [link("https://x.example/", 0.99)],
    }
    action, query = next_of(notes=["Look at the shipping register."], **given)
    assert action == DUCK and query and "shipping register" in query and "Heron" in query
    assert next_of(notes=["Read https://n.example/1 first."], **given) == (CRAWL, "https://n.example/1")


def test_the_newest_note_comes_first_and_each_is_obeyed_once() -> None:
    notes = ["Look at the shipping register.", "Read https://n.example/1 and https://n.example/2."]
    history = [search()]
    asked = []
    for _ in range(4):
        action, what = next_of(notes=notes, history=history, facts=CLEAR)
        asked.append((action, what))
        if action != HUMAN:
            history.append(Action(step=9, action=action, query_or_url=what))
    assert asked[:2] == [(CRAWL, "https://n.example/1"), (CRAWL, "https://n.example/2")]
    assert "register" in asked[2][1] and asked[3] == (HUMAN, "")


def test_a_note_is_not_lost_behind_a_long_question() -> None:
    _, query = next_of("Which of the many ferries " * 30 + "?", notes=["look for the shipping register"])
    assert query and query.endswith("shipping register") and len(query) <= 200


def test_what_was_refused_is_not_proposed_again() -> None:
    refused = [Refusal(what="https://n.example/1", why="outside the allowed domains")]
    assert next_of("What is on https://n.example/1?", refused=refused)[0] == DUCK
    assert next_of(notes=["Read https://n.example/1."], refused=refused) == (DUCK, QUESTION)


def test_when_the_note_was_searched_for_in_vain_the_question_is_searched_for() -> None:
    first = decide(notes=["look for the shipping register"])
    history = [search(first.query_or_url or "", outcome=Outcome.EMPTY)]
    assert next_of(notes=["look for the shipping register"], history=history) == (DUCK, QUESTION)


def test_the_best_lead_is_followed_and_none_twice() -> None:
    leads = [link("https://a.example/", 0.6), link("https://b.example/", 0.4)]
    assert next_of(history=[search()], leads=leads) == (CRAWL, "https://a.example/")
    assert next_of(history=[search(), crawl("https://A.example")], leads=leads) == (
        CRAWL,
        "https://b.example/",
    )


def pages(count: int) -> list[Action]:
    return [crawl(f"https://a.example/{n}") for n in range(count)]


@pytest.mark.parametrize(
    ("question", "most"), [(QUESTION, MAX_PAGES_ONE), (HOPS, MAX_PAGES_SEVERAL)], ids=["one", "several"]
)
def test_what_was_found_goes_to_the_person_when_the_pages_of_such_a_question_are_read(
    question: str, most: int
) -> None:
    given: dict[str, Any] = {"facts": CLEAR, "leads": [link("https://z.example/", 0.1)]}
    few = [search(question), *pages(most - 1)]
    assert next_of(question, history=few, **given) == (CRAWL, "https://z.example/")
    decision = decide(question, history=[search(question), *pages(most)], **given)
    assert decision.next_action == HUMAN and f"{most} pages are read" in decision.reasoning


def test_while_nothing_is_found_or_until_the_budget_is_used_the_pages_of_a_question_do_not_end_it() -> None:
    read, leads = [search(), *pages(MAX_PAGES_ONE)], [link("https://z.example/", 0.1)]
    assert next_of(history=read, leads=leads) == (CRAWL, "https://z.example/")
    assert next_of(history=read, leads=leads, facts=CLEAR, threshold=1.01) == (CRAWL, "https://z.example/")


def test_of_a_page_that_the_person_named_one_link_is_followed() -> None:
    leads = [link("https://z.example/", 0.1)]
    assert next_of(history=pages(1), leads=leads, facts=CLEAR) == (CRAWL, "https://z.example/")
    assert next_of(history=pages(MAX_PAGES_NAMED), leads=leads, facts=CLEAR) == (HUMAN, "")


def test_a_page_comes_before_the_search_for_a_found_name() -> None:
    history = [search(HOPS), crawl("https://a.example/")]
    page = link("https://z.example/", text="Älvmora Mejeri", prior=0.5)
    assert next_of(HOPS, history=history, facts=COUPLE, leads=[page]) == (CRAWL, "https://z.example/")


def test_nothing_found_is_said_plainly() -> None:
    assert "Nothing" in decide(history=[search(outcome=Outcome.EMPTY)]).reasoning


def test_engines_that_failed_are_no_search_without_a_find() -> None:
    failed = search(outcome=Outcome.ERROR)
    assert "refused or failed" in decide(history=[failed], actions=[CRAWL, HUMAN]).reasoning


def test_a_question_of_several_pages_goes_on_with_a_found_name() -> None:
    action, query = next_of(HOPS, history=[search(HOPS), crawl("https://a.example/")], facts=COUPLE)
    assert action == DUCK and query and "Tjäder" in query and "children" in query
    searched = [search(HOPS), *(search(f"query {n}") for n in range(MAX_FOLLOW_UP_SEARCHES))]
    assert next_of(HOPS, history=[*searched, crawl("https://a.example/")], facts=COUPLE) == (HUMAN, "")


def test_a_search_that_went_on_is_looked_into() -> None:
    history = [search(HOPS), crawl("https://a.example/"), search("Emil Tjäder children")]
    leads = [
        link("https://b.example/", 0.9),
        link("https://c.example/", 0.1, found_on="search: Emil Tjäder children"),
    ]
    assert next_of(HOPS, history=history, facts=COUPLE, leads=leads) == (CRAWL, "https://c.example/")


LIMITED, BLOCKED = Outcome.RATE_LIMITED, Outcome.BLOCKED


def test_what_one_engine_did_not_answer_the_other_is_asked() -> None:
    assert next_of(history=[search(outcome=LIMITED)], actions=[GOOGLE, CRAWL, HUMAN]) == (GOOGLE, QUESTION)
    assert next_of(history=[search(outcome=BLOCKED)]) == (GOOGLE, QUESTION)
    assert next_of(history=[search(outcome=BLOCKED), search(action=GOOGLE)]) == (HUMAN, "")


def test_an_engine_is_asked_again_when_its_pause_is_over_but_not_without_end() -> None:
    only = [DUCK, CRAWL, HUMAN]
    assert next_of(history=[search(outcome=LIMITED)], actions=only) == (DUCK, QUESTION)
    assert next_of(history=[search(outcome=LIMITED)], actions=[CRAWL, HUMAN]) == (HUMAN, ""), "while it rests"
    assert next_of(history=[search(outcome=LIMITED)] * 2, actions=only) == (HUMAN, "")
    assert next_of(history=[search(outcome=BLOCKED)], actions=only) == (HUMAN, "")
    assert next_of(history=[search(outcome=LIMITED), search()], actions=only) == (HUMAN, ""), (
        "answered at last"
    )


def test_a_pause_takes_none_of_the_searches_that_go_on() -> None:
    history = [
        search(HOPS, outcome=LIMITED),
        search(HOPS, GOOGLE),
        crawl("https://a.example/"),
        search("another name", GOOGLE),
    ]
    assert "Tjäder" in (next_of(HOPS, history=history, facts=COUPLE)[1] or "")


def on(rung: str, **given: Any) -> tuple[str, str | None]:
    return next_of(history=[search()], blockage=Stall(rung=rung, reason="stuck"), **given)


def test_the_rungs_of_the_ladder() -> None:
    lead = [link("https://a.example/", 0.001)]
    assert on("reframe", leads=lead) == (DUCK, "ferry Blue Heron built")
    assert on("narrow", leads=lead) == (DUCK, "Blue Heron")
    assert on("lead", leads=lead) == (CRAWL, "https://a.example/")
    assert on("lead") == (HUMAN, "")
    assert on("hand_over", leads=lead) == (HUMAN, "")


def test_a_closed_rung_gives_way_to_the_next() -> None:
    lead = [link("https://a.example/", 0.001)]
    assert on("reframe", leads=lead, actions=[CRAWL, HUMAN]) == (CRAWL, "https://a.example/")
    assert on("reframe", actions=[HUMAN]) == (HUMAN, "")


def test_with_no_action_left_the_person_is_asked_whatever_the_notes_say() -> None:
    assert next_of(remaining=0, notes=["Read https://n.example/1"], leads=[link("https://a.example/")]) == (
        HUMAN,
        "",
    )


def test_each_action_of_a_round_has_the_fields_of_the_contract() -> None:
    contract = {"next_action", "query_or_url", "reasoning"}
    assert set(Decision.model_json_schema()["properties"]) == contract | {"part", "choices"}
    with pytest.raises(ValidationError):
        Decision(next_action="search_elsewhere")
    assert Decision.model_validate({"next_action": "Send to HITL", "query_or_url": None}).next_action == HUMAN


def test_one_action_at_the_top_is_read_as_a_round_of_one() -> None:
    reply = DecisionReply.model_validate({"next_action": "Crawl URL", "query_or_url": "u3"})
    assert [(action.next_action, action.query_or_url) for action in reply.actions] == [(CRAWL, "u3")]
    with pytest.raises(ValidationError):
        DecisionReply.model_validate({"actions": []})


def test_a_models_reply_is_taken_as_a_decision() -> None:
    def model(role: str, messages: Any, narrowed: Any, tier: str) -> Any:
        assert (role, tier) == ("decision", "strong")
        return narrowed(actions=[{"next_action": HUMAN, "reasoning": "enough", "spare": 1}])

    blanks = {
        "question": QUESTION,
        "notes": [],
        "report": None,
        "history": [],
        "facts": [],
        "leads": [],
        "actions": [HUMAN],
        "blockage": None,
        "threshold": 0.85,
        "remaining": 1,
        "conflict": "",
        "level": 0.0,
        "refused": [],
        "parts": [],
        "engines": [],
        "results": [],
        "unread": [],
        "wishes": [],
        "settled": [],
        "brief": [],
        "unlisted": 0,
    }
    judgement = DECISION.judge(model, **blanks)
    assert type(judgement.value) is DecisionReply and judgement.value.actions[0].query_or_url == ""


@given(
    st.text(),
    st.lists(st.text(max_size=60), max_size=2),
    st.lists(st.text(max_size=60), max_size=3),
    st.sets(st.sampled_from(ALL)),
)
def test_any_words_lead_to_an_action_that_is_there(
    question: str, notes: list[str], quotes: list[str], actions: set[str]
) -> None:
    history = [search(quote or "x") for quote in quotes]
    facts = [fact(quote) for quote in quotes]
    for blockage in (None, Stall(rung="reframe", reason="")):
        given_ = {
            "notes": notes,
            "history": history,
            "facts": facts,
            "actions": sorted(actions),
            "blockage": blockage,
        }
        decision = decide(question, **given_)
        assert decision.next_action in {*actions, HUMAN} and decision == decide(question, **given_)
        assert bool(decision.query_or_url) == (decision.next_action != HUMAN)
