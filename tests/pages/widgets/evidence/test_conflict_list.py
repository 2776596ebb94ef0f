"""A conflict says who settled it: a model with its reason, a person, or the count of sources."""

from __future__ import annotations

import pytest

from agent.types import Conflict, ConflictSide
from pages.widgets.evidence.conflict_list import describe_ruling, render_head
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


def test_a_models_reading_is_shown_as_its_reading_with_its_reason():
    drawn = render_head(SETTLED)
    assert "resolved by the model&#x27;s reading" in drawn
    assert drawn.count("they are about different things, because “two &lt;b&gt;herons&lt;/b&gt;”") == 1
    assert "reading" not in render_head(CLASH)


def test_a_programs_word_is_told_as_its_own():
    because = "by program night job: the bill"
    ruled = READ.replace(status="settled", settled_by="person", reason=because, ruling="both")
    drawn = render_head(ruled)
    assert "resolved by a program" in drawn and "Both hold (by program night job: the bill)" in drawn
    assert " you" not in drawn and "settled by a program: both may hold" in ruled.status_text


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"chosen": "1934"}, "1934 (you decided: the bill). Other value: 1921, one.example."),
        ({"ruling": "both"}, "Both hold (you decided: the bill). The values: 1921, one.example; 1934, two"),
        ({"ruling": "neither"}, "Neither holds (you decided: the bill). The values: 1921, one.example; 1934"),
    ],
)
def test_a_persons_word_stands_beside_the_reading_it_overturned(changed, told):
    ruled = READ.replace(status="settled", settled_by="person", reason="the bill", **changed)
    assert describe_ruling(ruled).startswith(told)
    assert "resolved by you" in render_head(ruled) and "model&#x27;s reading" in render_head(ruled)
