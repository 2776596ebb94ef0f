"""A conflict says who settled it: a model with its reason, a person, or the count of sources."""

from __future__ import annotations

import pytest

from agent.types import Conflict, ConflictSide
from pages.widgets.evidence.conflict_list import describe_reading, describe_resolution, render_conflict
from tests.records import fill

CLASH = fill(
    Conflict,
    id="c1",
    subject="the heron",
    attribute="built",
    kind="date",
    values=[
        ConflictSide(text="1921", fact_ids=["a"], sites=["one.example"]),
        ConflictSide(text="1934", fact_ids=["b"], sites=["two.example"]),
    ],
)
READ = CLASH.replace(model_ruling="different_things", model_reason="two <b>herons</b>")
SETTLED = READ.replace(status="settled", settled_by="model", reason=READ.model_reason)


def test_a_models_reading_is_shown_as_its_reading_with_its_reason_and_both_values():
    drawn = render_conflict(SETTLED, {}, "r1")
    assert "resolved by the model&#x27;s reading" in drawn and "1921" in drawn and "1934" in drawn
    assert "they are about different things, because “two &lt;b&gt;herons&lt;/b&gt;”" in drawn
    assert describe_resolution(SETTLED) == "", "it is told once"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"chosen": "1934", "ruling": "take"}, "“1934” stands, because “the bill”"),
        ({"ruling": "both"}, "Both are correct, because “the bill”"),
        ({"ruling": "neither"}, "Neither is correct, because “the bill”"),
    ],
)
def test_a_persons_word_stands_beside_the_reading_it_overturned(changed, told):
    ruled = READ.replace(status="settled", settled_by="person", reason="the bill", **changed)
    drawn = render_conflict(ruled, {}, "r1")
    assert "resolved by you" in drawn and told in drawn and "model&#x27;s reading" in drawn
    assert describe_reading(CLASH) == ""
