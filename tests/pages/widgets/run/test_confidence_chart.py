"""What the Confidence and Sources tabs draw: plain functions over facts and figures, nothing from outside
becomes markup."""

from __future__ import annotations

from agent.actions.trust import DomainTrust
from agent.evidence.confidence import AnswerFeatures, assess_confidence
from agent.types import Confidence, Fact, PageRef, TrustRating
from pages.widgets.evidence import trust_form
from pages.widgets.run import confidence_chart

EVIL = "<img src=x onerror=alert(1)>"


def sure(**more: object) -> Confidence:
    fact = Fact(
        id="f",
        statement="It opened in 1921.",
        quote="It opened in 1921.",
        url="https://a.example/",
        verified=True,
        relevance=0.9,
        trust=0.6,
    )
    footing = AnswerFeatures(
        answering_facts=1,
        relevant_facts=4,
        missing_words=1,
        joined_share=0.0,
        is_multi_hop=False,
        answer_type="date",
    )
    return assess_confidence(step=1, facts=[fact], conflicts=[], coverage=0.9, footing=footing, **more)  # type: ignore[arg-type]


def test_the_factors_make_the_value_and_the_models_figure_stands_beside_it():
    drawn = confidence_chart.render_factors(sure())
    for words in (
        "coverage",
        "× support",
        "× trust",
        "× agreement",
        "− conflicts",
        "no model",
        "= confidence",
        "1 independent site says",
    ):
        assert words in drawn, words
    assert "1 of 4 facts that may count" in drawn and "of 10 answers with this confidence were right" in drawn
    lowered = confidence_chart.render_factors(sure(model=0.3))
    assert (
        "it can only lower the value" in lowered
        and '<td class="figure">0.30</td>' in lowered
        and "<b>0.30</b>" in lowered
    )


def test_what_is_disputed_is_said_to_support_nothing():
    told = [
        Fact(
            id=f"f{n}",
            statement=f"It opened in 192{n}.",
            quote="q",
            url=f"https://{n}.example/",
            verified=True,
            relevance=0.9,
        )
        for n in (1, 2)
    ]
    point = assess_confidence(
        step=1, facts=[told[0], told[1].model_copy(update={"disputed": True})], conflicts=[], coverage=0.9
    )
    assert "a disputed fact supports nothing" in confidence_chart.render_factors(
        point
    ) and "a disputed fact supports nothing" not in confidence_chart.render_factors(sure())


def test_an_old_confidence_without_its_counts_is_drawn_too():
    old = Confidence(
        step=1,
        value=0.6,
        factors={"coverage": 0.8, "support": 0.8, "trust": 1.0, "agreement": 1.0, "conflicts": 0.0},
    )
    assert "80% of the question" in confidence_chart.render_factors(
        old
    ) and "were right" not in confidence_chart.render_factors(old)
    assert "= confidence" in confidence_chart.render_factors(Confidence(step=1, value=0.2))


def test_looks_that_did_not_move_it_are_told_together():
    first, still = sure(), Confidence(step=2, value=0.5)
    given = [first, still, still, first, still]
    assert (
        confidence_chart.group_steps(given) == [(5, 5), (4, 4), (2, 3), (1, 1)]
        and confidence_chart.group_steps([]) == []
    )
    drawn = "".join(
        confidence_chart.render_reasons(given, *look) for look in confidence_chart.group_steps(given)
    )
    assert "Steps 2 to 3: no change." in drawn and "Step 5: no change." in drawn and "After step 4" in drawn


def test_the_sources_tell_trust_and_voices_and_stay_letters():
    page = PageRef(url="https://a.example/", page_id="p", trust=0.65, trust_why=["dated"])
    said = TrustRating(domain="b.example", value=0.0, reason=EVIL)
    domains = [
        DomainTrust(
            "a.example",
            [page],
            [Fact(id="f", statement="s", quote="q", verified=True)],
            ["c.example"],
            0.65,
            ["dated"],
        ),
        DomainTrust(
            "b.example",
            [],
            [Fact(id="g", statement="s", quote="q", verified=True, trust=0.0)],
            [],
            0.0,
            [f"your word: {EVIL}"],
            said,
        ),
    ]
    drawn = trust_form.render_domains(domains)
    assert (
        "same text as c.example" in drawn
        and "ordinary 0.65" in drawn
        and "not at all 0.00" in drawn
        and "(0 may count)" in drawn
    )
    disputed = Fact(id="h", statement="s", quote="q", verified=True, disputed=True)
    assert "1 disputed" in trust_form.render_domains(
        [DomainTrust("d.example", [], [disputed], [], 0.5, [])]
    ) and "may count" not in trust_form.render_domains([domains[0]])
    assert (
        "<img" not in drawn
        and "<img" not in trust_form.render_ratings([said])
        and "not at all 0.00" in trust_form.render_ratings([said])
    )
