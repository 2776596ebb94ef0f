"""The chat flow, edge by edge as seed 004 draws it: routes, grading, and the state."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.flows.chat.flow import CHAT
from agent.types import LibraryScope, Status
from agent.workbench import Workbench
from docs.make_reference import DECISIONS
from tests.tables import by_table
from tests.web.chatting_model import ASKED, LIGHT, QUOTE, Script, Talk, Turned, stock_kiosks, stocked

pytestmark = pytest.mark.slow

RETRY = "rewrite_retry retrieve grade"
THRICE = f"router retrieve grade {RETRY} {RETRY}"
Said = Callable[..., Turned]


def test_the_edges_are_the_seeds() -> None:
    """Node by node from the diagram of the seed, and a document that is read; its decision nodes are the labels, START and END the table's
    first and its rest."""
    seed = [
        ("router", "generate", "DIRECT_ANSWER"),
        ("router", "retrieve", "RETRIEVE"),
        ("router", "rewrite", "REWRITE_THEN_RETRIEVE"),
        ("router", "clarify", "ASK_CLARIFICATION"),
        ("router", "location", "LOCATION_SEARCH"),
        ("rewrite", "retrieve", ""),
        ("clarify", "retrieve", "user responds"),
        ("retrieve", "grade", ""),
        ("generate", "end", "CONVERSATIONAL_MODE=false, or no model"),
        ("router", "read_document", "READ_DOCUMENT"),
        ("read_document", "generate", ""),
        ("grade", "generate", "≥3 relevant"),
        ("grade", "rewrite_retry", "<3 & retry<2"),
        ("grade", "generate_caveat", "<3 & retry≥2"),
        ("rewrite_retry", "retrieve", ""),
        ("generate", "validate", ""),
        ("generate_caveat", "validate", ""),
        ("validate", "end", "yes"),
        ("validate", "rewrite_final", "no & retry<2"),
        ("validate", "clarify_final", "no & retry≥2"),
        ("rewrite_final", "retrieve", ""),
        ("clarify_final", "retrieve", "user responds"),
        ("location", "end", ""),
    ]
    assert sorted((edge.start, edge.end, edge.label) for edge in CHAT.edges) == sorted(seed)
    assert CHAT.first_step == "router" and set(CHAT.steps) == {start for start, _, _ in seed}
    assert DECISIONS["chat"] == {
        "router": "route_decision?",
        "grade": "relevant_count?",
        "validate": "grounded?",
    }
    assert dict(CHAT.rest_statuses) == {"respond": Status.WAITING, "end": Status.DONE}
    assert {edge.start for edge in CHAT.edges if edge.rest} == {"clarify", "clarify_final"}


@by_table
def test_each_route_leads_where_the_seed_says(said: Said, route: str, way: str) -> None:
    turn = said(script=Script(router=route))
    assert turn.way == way and turn.state.own.route_decision == route
    assert turn.state.own.route_reasoning == "so it is"


def test_a_direct_answer_is_written_from_what_earlier_answers_stand_on(said: Said, bench: Workbench) -> None:
    talk = Talk(bench, script=(script := Script(router=["RETRIEVE", "DIRECT_ANSWER"])))
    stocked(bench)
    first = talk.say(ASKED)
    second = talk.say("Say that again, please.")
    assert second.way == "router generate validate end"
    assert second.text == first.text == "A ticket costs 38 kronor."
    assert second.state.own.queries == [] and second.state.own.retrieved_docs == [], "nothing is searched for"
    assert [source["quotes"] for source in second.seed["sources"]] == [[QUOTE]]
    assert QUOTE in script.of("router")[1], "the router sees the facts that are at hand"


def test_without_facilities_a_search_for_one_becomes_a_search(bench: Workbench) -> None:
    stocked(bench, places=False)
    turn = Talk(bench, script=Script(router="LOCATION_SEARCH")).say("Where is the nearest clinic?")
    assert turn.state.own.route_decision == "RETRIEVE" and "no facilities" in turn.state.own.route_reasoning


def test_the_state_has_the_seeds_fields(said: Said, bench: Workbench) -> None:
    stock_kiosks(bench)
    told = "A ticket costs 38 kronor."
    turn = said(script=Script(grade=[[0.9], 0.9], rewrite="harbour kiosk"))
    state = bench.as_json(turn.id)["chat"]
    docs, scores, confidence = (
        state.pop(name) for name in ("retrieved_docs", "doc_relevance_scores", "confidence")
    )
    assert [source["quotes"] for source in state.pop("sources")] == [[QUOTE]]
    assert state == {
        "messages": [{"role": "user", "content": ASKED}, {"role": "assistant", "content": told}],
        "original_query": ASKED,
        "rewritten_query": "harbour kiosk",
        "draft_answer": told,
        "final_answer": told,
        "route_decision": "RETRIEVE",
        "retry_count": 1,
        "needs_clarification": None,
    }
    assert len(docs) == len(scores) > 2 and scores[0] == 0.9 and 0 < confidence <= 1
    for doc in docs:
        assert doc["text"] == bench.page(doc["page_id"]).text[doc["start"] : doc["end"]] != ""


def test_only_what_is_in_scope_is_searched(said: Said) -> None:
    script = Script(generate=[[]])
    turn = said("How high is the lighthouse?", script, scope=LibraryScope(tags=["ferry"]))
    assert {doc.source_id for doc in turn.state.own.retrieved_docs} <= {"kb:ferry.md"}
    assert "31 metres" in said("How high is the lighthouse?", scope=LibraryScope(tags=["light"])).text


def test_invented_sources_are_left_out_of_the_real_world(bench: Workbench) -> None:
    bench.library.add_file("light.md", LIGHT.encode(), tags=["demo"])
    assert "31 metres" not in Talk(bench).say("How high is the lighthouse?").text
    assert "31 metres" in Talk(bench, world="demo").say("How high is the lighthouse?").text
