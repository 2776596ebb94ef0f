"""The formula reaches what it promises, and its moves add up and say why."""

from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from agent.evidence.confidence import assess
from agent.types import Confidence, Conflict, Fact, Value


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


def level(facts: list[Fact], *, coverage: float = 1.0, conflicts: list[Conflict] | None = None, **more: object) -> Confidence:
    return assess(step=1, facts=facts, conflicts=conflicts or [], coverage=coverage, **more)  # type: ignore[arg-type]


def clash(*ids: str, status: str = "open") -> Conflict:
    values = [Value(text=i, fact_ids=[i], sites=[i]) for i in ids]
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
    assert level([fact(1, part="who"), fact(2, part="when")]).value < both < level([fact(1), fact(2), fact(3)]).value


def test_a_model_can_only_lower_it() -> None:
    own = level([fact(1)]).value
    assert level([fact(1)], model=0.99).value == own
    lowered = level([fact(1)], model=0.3)
    assert lowered.value == 0.3 and lowered.model == 0.3 and "model itself" in lowered.moves[-1].reason


def test_the_moves_say_why_and_add_up() -> None:
    first = level([fact(1)], coverage=0.8)
    assert "first evidence: 1 fact from 1 independent site" in first.moves[0].reason
    second = level([fact(1), fact(2)], coverage=0.8, previous=first)
    assert [move.reason for move in second.moves] == ["another, independent site says the same (2 independent sites in all)"]
    assert second.moves[0].delta == approx(second.value - first.value, abs=1e-4)
    third = level([fact(1), fact(2)], coverage=0.8, conflicts=[clash("f1", "f7")], previous=second)
    assert [(round(m.delta, 2), m.reason) for m in third.moves] == [(-0.1, "1 conflict on this question is open")]
    assert level([fact(1), fact(2)], coverage=0.8, previous=second).moves == []
    held = level([fact(1), fact(2)], coverage=0.8, previous=second, model=0.4)
    freed = level([fact(1), fact(2)], coverage=0.8, previous=held, model=0.9)
    assert "no longer holds it down" in freed.moves[-1].reason and freed.value == second.value


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
@given(st.lists(st.tuples(FACTS, st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1))), min_size=1, max_size=4))
def test_it_stays_between_0_and_1_and_the_moves_always_add_up(course: list[tuple[list[Fact], float, float | None]]) -> None:
    previous: Confidence | None = None
    for facts, coverage, model in course:
        now = level(facts, coverage=coverage, previous=previous, model=model, conflicts=[clash("f1", "f2")])
        assert 0 <= now.value <= 1
        moved = sum(move.delta for move in now.moves)
        assert abs((previous.value if previous else 0) + moved - now.value) < 0.006
        previous = now
