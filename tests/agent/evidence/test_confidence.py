"""The formula reaches what it promises, and its moves add up and say why."""

from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx, mark

from agent.evidence.confidence import (
    MAX_SINGLE_SOURCE_VALUE,
    AnswerFeatures,
    assess_confidence,
    compute_value,
    single_source_value,
)
from agent.types import Confidence, Conflict, ConflictSide, Fact, Settings


def fact(n: int, statement: str = "The Nordvik dairy was founded in 1921.", **more: object) -> Fact:
    given_: dict[str, object] = {
        "id": f"f{n}",
        "statement": statement,
        "quote": f"{statement} (as {n} tells)",
        "url": f"https://s{n}.example/p",
        "verified": True,
        "trust": 0.6,
        "relevance": 0.9,
        "step": n,
        **more,
    }
    return Fact(**given_)  # type: ignore[arg-type]


def level(
    facts: list[Fact], *, coverage: float = 1.0, conflicts: list[Conflict] | None = None, **more: object
) -> Confidence:
    return assess_confidence(step=1, facts=facts, conflicts=conflicts or [], coverage=coverage, **more)  # type: ignore[arg-type]


def clash(*ids: str, status: str = "open") -> Conflict:
    values = [ConflictSide(text=i, fact_ids=[i], sites=[i]) for i in ids]
    return Conflict(id="c1", subject="x", attribute="y", kind="date", values=values, status=status)  # type: ignore[arg-type]


def test_nothing_known_is_no_confidence() -> None:
    assert level([]).value == 0 and level([]).moves == []
    assert level([fact(1, verified=False)]).value == 0
    assert level([fact(1, decision="struck")]).value == 0


def test_one_good_site_then_two() -> None:
    assert 0.7 <= level([fact(1)]).value <= 0.8
    assert level([fact(1), fact(2)]).value >= 0.85
    assert level([fact(1), fact(2), fact(3)]).value > level([fact(1), fact(2)]).value


def test_another_page_of_the_same_site_is_no_second_voice() -> None:
    assert level([fact(1), fact(2, url="https://s1.example/other")]).value == level([fact(1)]).value


def test_another_voice_on_something_else_counts_little() -> None:
    aside = level([fact(1), fact(2, "Anna Berg kept forty bees in Lillehavn.", relevance=0.8)]).value
    assert level([fact(1)]).value < aside < 0.85


def test_coverage_trust_and_dispute_lower_it() -> None:
    whole = level([fact(1), fact(2)]).value
    assert level([fact(1), fact(2)], coverage=0.5).value == approx(whole / 2, abs=1e-3)
    assert level([fact(1, trust=0.2), fact(2, trust=0.2)]).value < whole
    assert level([fact(1), fact(2), fact(3, disputed=True)]).value < whole
    assert level([fact(1), fact(2)], conflicts=[clash("f1", "f9")]).value == approx(whole - 0.10)
    assert level([fact(1), fact(2)], conflicts=[clash("f1", "f9", status="settled")]).value == whole
    assert level([fact(1), fact(2)], conflicts=[clash("f8", "f9")]).value == whole


def test_parts_are_averaged() -> None:
    both = level([fact(1, part="who"), fact(2, part="when"), fact(3, part="when")]).value
    assert (
        level([fact(1, part="who"), fact(2, part="when")]).value
        < both
        < level([fact(1), fact(2), fact(3)]).value
    )


def test_a_model_can_only_lower_it() -> None:
    own = level([fact(1)]).value
    assert level([fact(1)], model=0.99).value == own
    lowered = level([fact(1)], model=0.3)
    assert lowered.value == 0.3 and lowered.model == 0.3 and "model itself" in lowered.moves[-1].reason


def test_the_moves_say_why_and_add_up() -> None:
    first = level([fact(1)], coverage=0.8)
    assert "first evidence: 1 fact from 1 independent site" in first.moves[0].reason
    second = level([fact(1), fact(2)], coverage=0.8, previous=first)
    assert [move.reason for move in second.moves] == [
        "a second, independent site (s2.example) gives the same date: 1921"
    ]
    assert second.moves[0].delta == approx(second.value - first.value, abs=1e-4)
    third = level([fact(1), fact(2)], coverage=0.8, conflicts=[clash("f1", "f7")], previous=second)
    assert [(round(m.delta, 2), m.reason) for m in third.moves] == [
        (-0.1, "1 conflict on this question is open: x, y: f1 or f7")
    ]
    assert level([fact(1), fact(2)], coverage=0.8, previous=second).moves == []
    held = level([fact(1), fact(2)], coverage=0.8, previous=second, model=0.4)
    freed = level([fact(1), fact(2)], coverage=0.8, previous=held, model=0.9)
    assert "no longer lower than the evidence" in freed.moves[-1].reason and freed.value == second.value


def footed(**more: object) -> AnswerFeatures:
    given_: dict[str, object] = {
        "answering_facts": 1,
        "relevant_facts": 6,
        "missing_words": 2,
        "joined_share": 0.1,
        "is_multi_hop": False,
        "answer_type": "person",
        **more,
    }
    return AnswerFeatures(**given_)  # type: ignore[arg-type]


def one(**more: object) -> float:
    return level([fact(1)], footing=footed(**more)).value


def test_with_a_footing_each_count_moves_the_value_its_own_way() -> None:
    usual = one()
    assert one(answering_facts=2) > usual > one(answering_facts=0)
    assert one(relevant_facts=5) > usual > one(relevant_facts=12)
    assert one(missing_words=0) > usual > one(missing_words=4)
    assert one(answer_type="date") > usual == one(answer_type="place")
    assert one(answering_facts=4) == one(answering_facts=9), "more than four are no surer sign"
    chain = one(is_multi_hop=True)
    assert one(is_multi_hop=True, joined_share=0.4) > chain == one(is_multi_hop=True, relevant_facts=12), (
        "a question of several pages goes by what is joined"
    )
    assert (
        one(opens_page=True) > usual == one(linked_share=1.0)
        and one(is_multi_hop=True, opens_page=True) == chain
    )
    assert one(is_multi_hop=True, linked_share=1.0) > chain > one(is_multi_hop=True, is_yes_no=True)


def test_one_voice_alone_never_reaches_the_usual_threshold_and_a_second_passes_it() -> None:
    surest = footed(answering_facts=4, relevant_facts=4, missing_words=0, answer_type="date")
    assert level([fact(1)], footing=surest).value == MAX_SINGLE_SOURCE_VALUE < Settings().threshold
    assert (
        level(
            [fact(1), fact(2, "Anna Berg kept forty bees in Lillehavn.", relevance=0.8)], footing=surest
        ).value
        < Settings().threshold
    )
    assert level([fact(1), fact(2)], footing=surest).value > Settings().threshold


def test_four_fifths_of_the_words_are_as_good_as_all_where_a_footing_tells_what_is_missing() -> None:
    assert (
        level([fact(1)], coverage=0.8, footing=footed()).value
        == one()
        > level([fact(1)], coverage=0.4, footing=footed()).value
    )


def test_what_a_person_pinned_needs_no_estimate() -> None:
    pinned = level([fact(1)], footing=footed(answering_facts=0, relevant_facts=20))
    moved = level(
        [fact(1, decision="pinned")], footing=footed(answering_facts=0, relevant_facts=20), previous=pinned
    )
    assert moved.factors["alone"] == MAX_SINGLE_SOURCE_VALUE < moved.value, "what is pinned is trusted fully"
    assert {move.reason for move in moved.moves} == {"a person confirmed the best fact"}


def test_a_fully_trusted_source_can_be_enough_alone() -> None:
    before = level([fact(1)], footing=footed(relevant_facts=2, missing_words=0))
    sure = level([fact(1, trust=1.0)], footing=footed(relevant_facts=2, missing_words=0), previous=before)
    assert before.value < Settings().threshold < sure.value
    assert sure.moves[0].reason == "the source of the best fact is trusted fully: s1.example"
    back = level([fact(1)], footing=footed(relevant_facts=2, missing_words=0), previous=sure)
    assert "makes it sure any more" in back.moves[0].reason


def test_the_value_can_be_computed_again_from_what_is_kept() -> None:
    for footing in (None, footed(), footed(is_multi_hop=True)):
        now = level(
            [fact(1), fact(2), fact(3, disputed=True)],
            coverage=0.7,
            footing=footing,
            conflicts=[clash("f1", "f9")],
        )
        assert compute_value(now.basis) == approx(now.value, abs=1e-3) and single_source_value(
            now.basis
        ) == approx(now.factors["alone"], abs=1e-3)
        factors = now.factors
        product = (
            factors["coverage"] * factors["support"] * factors["trust"] * factors["agreement"]
            - factors["conflicts"]
        )
        assert product == approx(now.value, abs=1e-3)


@mark.parametrize(
    ("change", "said"),
    [
        (
            {"answering_facts": 2},
            "the answer is clearer: of 6 facts that may count, 2 with a person's name answer it",
        ),
        ({"relevant_facts": 14}, "more facts are on the question without answering it: of 14 facts"),
        ({"missing_words": 4}, "the answer leaves 4 words of the question open"),
        ({"missing_words": 0}, "the answer leaves no word of the question open any more"),
        ({"opens_page": True}, "the best fact opens its page"),
        ({"is_multi_hop": True, "joined_share": 0.1}, "read in another way"),
    ],
)
def test_each_count_that_moves_is_told(change: dict[str, object], said: str) -> None:
    before = level([fact(1)], footing=footed())
    after = level([fact(1)], footing=footed(**change), previous=before)
    assert any(said in move.reason for move in after.moves), after.moves
    assert sum(move.delta for move in after.moves) == approx(after.value - before.value, abs=1e-3)


def test_links_that_meet_are_told() -> None:
    before = level([fact(1)], footing=footed(is_multi_hop=True, joined_share=0.0))
    after = level([fact(1)], footing=footed(is_multi_hop=True, joined_share=0.3), previous=before)
    assert "30% more of the question than the best fact alone" in after.moves[0].reason
    more = level(
        [fact(1)], footing=footed(is_multi_hop=True, joined_share=0.3, linked_share=0.5), previous=after
    )
    assert more.moves[0].reason == "of what no title says, the quotes now hold 50%"


@mark.parametrize(
    ("statement", "other", "said"),
    [
        (
            "The dairy keeps 40 cows in Lund.",
            "In Lund the dairy keeps forty cows.",
            "gives the same figure: 40",
        ),
        ("The dairy is run by Anna Berg.", "Anna Berg runs the old dairy.", "gives the same name: Anna Berg"),
        ("the old dairy sells soft cheese", "soft cheese is what the old dairy sells", "says the same"),
    ],
)
def test_a_second_voice_is_told_with_what_it_confirms(statement: str, other: str, said: str) -> None:
    first = level([fact(1, statement)])
    second = level([fact(1, statement), fact(2, other)], previous=first)
    assert second.moves[0].reason.startswith("a second, independent site (s2.example) " + said)


def test_a_confidence_of_an_older_store_goes_on() -> None:
    old = level([fact(1)]).model_copy(update={"basis": {}, "factors": {"coverage": 1.0}})
    now = level([fact(1), fact(2)], previous=old)
    assert sum(move.delta for move in now.moves) == approx(now.value - old.value, abs=1e-3)


FACTS = st.lists(
    st.builds(
        fact,
        st.integers(1, 6),
        st.sampled_from(["The dairy opened in 1921.", "The dairy opened in 1923.", "It sells cheese."]),
        trust=st.floats(0, 1),
        relevance=st.floats(0, 1),
        disputed=st.booleans(),
        verified=st.booleans(),
        part=st.sampled_from(["", "a"]),
        decision=st.sampled_from(["none", "pinned", "struck"]),
    ),
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(FACTS, st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1))), min_size=1, max_size=4)
)
def test_it_stays_between_0_and_1_and_the_moves_always_add_up(
    course: list[tuple[list[Fact], float, float | None]],
) -> None:
    previous: Confidence | None = None
    for facts, coverage, model in course:
        now = level(facts, coverage=coverage, previous=previous, model=model, conflicts=[clash("f1", "f2")])
        assert 0 <= now.value <= 1
        moved = sum(move.delta for move in now.moves)
        assert abs((previous.value if previous else 0) + moved - now.value) < 0.006
        previous = now
