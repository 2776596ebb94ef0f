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


def test_what_moved_it_is_told_newest_first():
    first, still = sure(), fill(Confidence, step=2, value=0.5)
    drawn = confidence_chart.render_events([first, still, first, still], [2, 3, 5, 5])
    assert drawn.count("<li>") == 2 and drawn.index("After step 5: 77 %") < drawn.index("After step 2: 77 %")


def test_points_after_one_step_share_the_way_to_the_next():
    assert confidence_chart.place_points([0, 1, 1, 2]) == [0, 1, 1.5, 2]
    assert confidence_chart.name_point([0, 1], 0) == "Before step 1"
