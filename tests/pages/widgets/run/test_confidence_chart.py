"""What the Confidence and Sources tabs draw: plain functions over facts and figures, nothing from outside
becomes markup."""

from __future__ import annotations

from agent.types import Confidence, ConfidenceChange, PartConfidence, PlanPart
from pages.widgets.run import confidence_chart
from tests.records import fill

EVIL = "<img src=x onerror=alert(1)>"


def sure(**more: object) -> Confidence:
    part = PartConfidence(part="1", sources=["a.example"], weight=1.0, judgement=0.9)
    return fill(
        Confidence, step=1, value=0.77, parts=[part], moves=[ConfidenceChange(delta=0.77, reason="x")]
    ).model_copy(update=more)


def test_an_open_and_a_disputed_part_are_told():
    parts = [
        PartConfidence(part="1", sources=["a.example"], weight=1.0, judgement=0.9, disputed=True),
        PartConfidence(part="2"),
    ]
    plan = [PlanPart(id="1", question="When?"), PlanPart(id="2", question=EVIL)]
    drawn = confidence_chart.render_factors(sure(parts=parts), plan)
    assert "an open conflict contradicts it" in drawn and "no source supports a claim: open" in drawn
    assert "When?" in drawn and EVIL not in drawn


def test_looks_that_did_not_move_it_are_told_together():
    first, still = sure(), fill(Confidence, step=2, value=0.5)
    given = [first, still, still, first, still]
    assert confidence_chart.group_steps(given) == [(5, 5), (4, 4), (2, 3), (1, 1)]
    assert confidence_chart.group_steps([]) == []
    numbers = [2, 3, 4, 5, 5]
    drawn = "".join(
        confidence_chart.render_reasons(given, numbers, *look) for look in confidence_chart.group_steps(given)
    )
    assert "Steps 3 to 4: no change." in drawn and "Later, after step 5: no change." in drawn
    assert "After step 2: 77 %" in drawn and "After step 5: 77 %" in drawn


def test_points_after_one_step_share_the_way_to_the_next():
    assert confidence_chart.place_points([0, 1, 1, 2]) == [0, 1, 1.5, 2]
    assert confidence_chart.name_point([0, 1], 0) == "Before step 1"
