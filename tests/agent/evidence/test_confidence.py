"""The confidence: a range that the evidence allows, a place in it that a judgement takes, and monotony with the
judgement held fixed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx, mark

from agent.evidence.confidence import (
    MAX_PARTIAL,
    Evidence,
    EvidencePool,
    assess_confidence,
    compute_value,
    describe_certainty,
    describe_parts,
    evidence_range,
    explain_changes,
)
from agent.types import Confidence, Conflict, ConflictSide, Fact, PartConfidence, PlanPart
from tests.records import fill
from tests.tables import by_table

pytestmark = pytest.mark.slow

OPENED = "The Lillehavn dairy opened in 1921."


def fact(n: int, statement: str = OPENED, **more: Any) -> Fact:
    given_ = {
        "id": f"f{n}",
        "statement": statement,
        "quote": statement,
        "url": f"https://s{n}.example/",
        "page_id": f"p{n}",
        "trust": 0.6,
        "relevance": 0.5,
        "verified": True,
        "part": "1",
        "step": n,
    }
    return Fact(**{**given_, **more})


def clash(*names: str, status: str = "open") -> Conflict:
    sides = [ConflictSide(text=name, fact_ids=[name], sites=[name]) for name in names]
    return fill(Conflict, id="c", subject="x", attribute="y", kind="date", values=sides, status=status)


def measure(
    facts: list[Fact],
    conflicts: list[Conflict] | None = None,
    *,
    judgement: float = 0.9,
    enough: bool = False,
    part: str = "1",
) -> Evidence:
    pool = EvidencePool(facts, conflicts or [], lambda fact: enough)
    claims = [fact.id for fact in facts if fact.part == part and fact.is_active]
    return pool.measure(part, claims, judgement, is_answered=False)


def value(
    facts: list[Fact], conflicts: list[Conflict] | None = None, *, m: float = 0.9, **more: Any
) -> float:
    found = measure(facts, conflicts, judgement=m, **more)
    return assess_confidence(3, [found], m).value


def test_one_right_source_is_moderate_and_never_high() -> None:
    assert 0.6 <= value([fact(1)], m=0.7) < value([fact(1)], m=1.0) < 0.85


def test_the_judgement_moves_it_both_ways_within_what_the_evidence_allows() -> None:
    for facts in ([fact(1)], [fact(1), fact(2)]):
        low, high = evidence_range(measure(facts).weight)
        assert value(facts, m=0.0) == approx(low) and value(facts, m=1.0) == approx(high, abs=1e-4)
        assert low < value(facts, m=0.3) < value(facts, m=0.6) < high


def test_one_source_is_enough_where_it_speaks_of_itself() -> None:
    assert value([fact(1)], enough=True) == value([fact(1), fact(2)]) > value([fact(1)])


@mark.parametrize("more", [{"trust": 1.0}, {"decision": "pinned"}])
def test_a_person_makes_one_source_enough(more: dict[str, Any]) -> None:
    assert value([fact(1, **more)]) == value([fact(1), fact(2)])


def test_little_trust_counts_little_and_none_nothing() -> None:
    values = [value([fact(1, trust=trust)]) for trust in (0.0, 0.2, 0.4, 0.6, 0.9)]
    assert values == sorted(values) and values[0] == 0.0 and values[3] == values[4]


def test_only_independent_sources_that_say_the_same_count() -> None:
    copy = fact(2, quote=OPENED + " It was the first of its kind in the whole of the valley, people say.")
    original = fact(1, quote=copy.quote)
    assert value([original, copy]) == value([fact(1)]), "copies are one source"
    assert value([fact(1), fact(2, url="https://s1.example/b")]) == value([fact(1)]), "so is one site"
    assert value([fact(1), fact(2, "It sells cheese to forty shops.")]) == value([fact(1)])
    assert value([fact(1), fact(2, "The Lillehavn dairy opened in 1934.")]) == value([fact(1)])


def test_other_figures_of_one_attribute_never_agree_whoever_closed_the_conflict() -> None:
    about = {"subject": "Kessel Tower", "attribute": "height"}
    one = fact(1, "Kessel Tower is 112 metres high.", **about)
    other = fact(2, "The tower at Kessel has a height of 121 metres.", **about)
    alone = value([one])
    assert value([one, other]) == alone
    same = fact(2, "The tower at Kessel has a height of 112 metres.", **about)
    assert value([one, same]) > alone
    closed = clash("f1", "f2", status="settled").replace(settled_by="model")
    assert value([one, same], [closed]) == alone, "two sides of a conflict are no agreement"


def test_what_rests_on_a_persons_word_alone_counts_nothing() -> None:
    own = fact(1, origin="person", url="", decision="pinned")
    assert value([own]) == 0.0
    assert value([fact(1, former="It opened in 1920.", verified=False, decision="pinned")]) == 0.0


def test_an_open_conflict_on_the_claim_halves_it_and_no_other_touches_it() -> None:
    whole = value([fact(1), fact(2)])
    assert value([fact(1), fact(2)], [clash("f1", "f9")]) == approx(whole / 2, abs=1e-3)
    assert value([fact(1), fact(2)], [clash("f1", "f9", status="settled")]) == whole
    assert value([fact(1), fact(2)], [clash("f8", "f9")]) == whole


def test_an_open_part_keeps_the_whole_below_moderate() -> None:
    sure = [PartConfidence(part=str(n), sources=["a", "b"], weight=2.0, judgement=1.0) for n in range(9)]
    assert compute_value(sure) > 0.9
    assert compute_value([*sure, PartConfidence(part="9")]) == MAX_PARTIAL
    assert compute_value([*sure[:-1], sure[-1].replace(disputed=True)]) == MAX_PARTIAL
    assert compute_value([sure[0], PartConfidence(part="9")]) == approx(compute_value(sure) / 2, abs=1e-3)


def explained(
    facts: list[Fact],
    previous: Confidence | None = None,
    conflicts: list[Conflict] | None = None,
    *,
    m: float = 0.9,
    model: float | None = 0.9,
) -> Confidence:
    found = [measure(facts, conflicts, judgement=m)]
    return explain_changes(previous, assess_confidence(2, found, m, model=model), found)


def test_each_change_has_its_reason_and_the_deltas_add_up() -> None:
    first = explained([fact(1)])
    assert first.moves[0].reason == "the first evidence, from 1 independent source: s1.example"
    second = explained([fact(1), fact(2)], first)
    assert [move.reason for move in second.moves] == [
        "a further independent source says the same: s2.example"
    ]
    assert second.moves[0].delta == approx(second.value - first.value, abs=1e-4)
    third = explained([fact(1), fact(2)], second, [clash("f1", "f7")])
    assert third.moves[0].reason == "the sources differ: x, y: f1 or f7" and third.moves[0].delta < 0
    fourth = explained([fact(1), fact(2)], third)
    assert fourth.moves[0].reason == "no open conflict contradicts it any more"
    assert explained([fact(1), fact(2)], fourth).moves == []
    less = explained([fact(1), fact(2)], fourth, m=0.4, model=0.4)
    assert less.moves[0].reason == "the model is less sure of the answer (0.40, before 0.90)"
    gone = explained([fact(1, decision="struck"), fact(2, decision="struck")], less, m=0.4)
    assert gone.moves[0].reason == "no source supports its claim any more"


@mark.parametrize(
    ("facts", "reason"),
    [
        ([fact(1, trust=0.3)], "its sources are trusted less"),
        ([fact(1, trust=1.0)], "a more trusted source says it: s1.example"),
        ([fact(1, decision="pinned")], "a person confirmed it"),
    ],
)
def test_a_change_of_trust_is_told(facts: list[Fact], reason: str) -> None:
    assert explained(facts, explained([fact(1)])).moves[0].reason == reason


def test_what_a_value_is_made_of_is_told_by_part() -> None:
    plan = [PlanPart(id="1", question="When did it open?"), PlanPart(id="2", question="Who built it?")]
    parts = [
        PartConfidence(part="1", sources=["a.example"], weight=0.5, judgement=0.9, disputed=True),
        PartConfidence(part="2"),
    ]
    rows = describe_parts(Confidence(step=1, value=0.3, model=0.9, parts=parts), plan)
    assert [row[0] for row in rows] == ["part 1", "evidence", "judgement", "disputed", "part 2", "evidence"]
    assert "counted as 0.5 by trust" in rows[1][2] and "model" in rows[2][2] and rows[5][1] == "0.00"


FACTS = st.lists(
    st.builds(
        lambda n, statement, trust, mark: fact(n, statement, trust=trust, decision=mark),
        st.integers(1, 8),
        st.sampled_from(
            [
                OPENED,
                "In 1921 the Lillehavn dairy opened.",
                "Since 1921, when two sisters let the first guests in, Lillehavn dairy has been open daily.",
                "It sells cheese.",
                "It opened in 1934.",
            ]
        ),
        st.floats(0, 1),
        st.sampled_from(["none", "none", "pinned", "struck"]),
    ),
    max_size=7,
    unique_by=lambda given_: given_.id,
)
CONFLICTS = st.lists(
    st.builds(clash, st.sampled_from(["f1", "f2", "f3"]), st.sampled_from(["f4", "f9"])), max_size=2
)
JUDGEMENTS = st.floats(0, 1)


@settings(max_examples=200, deadline=None)
@given(FACTS, CONFLICTS, JUDGEMENTS)
def test_a_further_independent_source_never_lowers_it(
    facts: list[Fact], conflicts: list[Conflict], m: float
) -> None:
    known = [f for f in facts if f.is_active]
    for more in (fact(77), *(fact(78, f.statement) for f in known[:1])):
        assert value([*facts, more], conflicts, m=m) >= value(facts, conflicts, m=m) - 1e-9


@settings(max_examples=200, deadline=None)
@given(FACTS, CONFLICTS, JUDGEMENTS, st.data())
def test_striking_distrusting_or_falsely_correcting_a_fact_never_raises_it(
    facts: list[Fact], conflicts: list[Conflict], m: float, data: st.DataObject
) -> None:
    if not facts:
        return
    chosen = data.draw(st.sampled_from(facts))
    before = value(facts, conflicts, m=m)
    changes = [
        {"decision": "struck"},
        {"trust": chosen.trust * data.draw(st.floats(0, 1))},
        {"statement": "It opened in 1877.", "former": chosen.statement, "verified": False},
    ]
    for change in changes:
        after = [f.replace(**change) if f is chosen else f for f in facts]
        assert value(after, conflicts, m=m) <= before + 1e-9, change


@settings(max_examples=200, deadline=None)
@given(FACTS, JUDGEMENTS, st.data())
def test_an_answer_is_as_sure_as_the_least_supported_fact_that_it_cites(
    facts: list[Fact], m: float, data: st.DataObject
) -> None:
    names = [fact.id for fact in facts]

    def weigh(given: list[Fact], cited: list[str]) -> float:
        return EvidencePool(given, [], lambda fact: False).measure("1", cited, m).weight

    least = min((weigh(facts, [name]) for name in names), default=0.0)
    assert weigh(facts, names) == pytest.approx(least, abs=1e-9)
    if facts:
        chosen = data.draw(st.sampled_from(facts))
        after = [f.replace(decision="struck") if f is chosen else f for f in facts]
        assert weigh(after, names) <= weigh(facts, names) + 1e-9


@settings(max_examples=200, deadline=None)
@given(FACTS, CONFLICTS, JUDGEMENTS, st.sampled_from(["f1", "f2", "f5"]))
def test_an_open_conflict_never_raises_it(
    facts: list[Fact], conflicts: list[Conflict], m: float, name: str
) -> None:
    assert value(facts, [*conflicts, clash(name, "f9")], m=m) <= value(facts, conflicts, m=m) + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(FACTS, CONFLICTS, JUDGEMENTS), min_size=1, max_size=4))
def test_it_stays_between_0_and_1_and_the_deltas_always_add_up(
    course: list[tuple[list[Fact], list[Conflict], float]],
) -> None:
    previous: Confidence | None = None
    for facts, conflicts, m in course:
        now = explained(facts, previous, conflicts, m=m)
        moved = sum(move.delta for move in now.moves)
        assert 0 <= now.value <= 1
        assert abs((previous.value if previous else 0) + moved - now.value) < 0.006
        previous = now


@by_table
def test_a_level_is_told_with_the_reason_of_its_weakest_part(
    parts: list[tuple[list[str], float]], told: str
) -> None:
    made = [
        PartConfidence(part=str(n), sources=sources, weight=len(sources), judgement=judgement)
        for n, (sources, judgement) in enumerate(parts, start=1)
    ]
    point = fill(Confidence, step=1, value=compute_value(made), parts=made)
    plan = [PlanPart(id=part.part, question=f"Who built wing {part.part}?") for part in made]
    assert describe_certainty(point, plan) == told
