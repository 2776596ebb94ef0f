"""What a confidence was counted from: whole and in range, or not known at all."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agent.evidence.confidence import compute_value
from agent.types import Confidence
from agent.types.facts import ANSWER_INPUTS, BASE_INPUTS, DEFAULTED_INPUTS

PLAIN = dict.fromkeys(BASE_INPUTS, 0.5) | {"conflicts": 0.0}
WHOLE = PLAIN | dict.fromkeys(ANSWER_INPUTS, 1.0)


def test_the_counts_are_whole_or_none() -> None:
    for basis in ({}, PLAIN, WHOLE):
        assert Confidence(step=1, value=0.5, basis=basis).basis == basis and 0 <= compute_value(basis) <= 1
    for lost in ("trust", "told", "chain"):
        with pytest.raises(ValidationError, match="missing or unknown"):
            Confidence(
                step=1, value=0.5, basis={name: figure for name, figure in WHOLE.items() if name != lost}
            )


def test_what_was_not_counted_at_first_spoke_for_nothing() -> None:
    old = {name: figure for name, figure in WHOLE.items() if name not in DEFAULTED_INPUTS}
    assert Confidence(step=1, value=0.5, basis=old).basis == WHOLE | dict.fromkeys(DEFAULTED_INPUTS, 0.0)


@pytest.mark.parametrize(
    ("name", "figure"), [("missing", 1e9), ("bearing", -1.0), ("left", float("nan")), ("facts", float("inf"))]
)
def test_a_count_has_its_range(name: str, figure: float) -> None:
    with pytest.raises(ValidationError, match="range"):
        Confidence(step=1, value=0.5, basis=WHOLE | {name: figure})
    top = {name: most for name, (_, most) in (BASE_INPUTS | ANSWER_INPUTS).items()}
    assert (
        0 <= compute_value(top) <= 1
        and 0
        <= compute_value(
            {name: least for name, (least, _) in (BASE_INPUTS | ANSWER_INPUTS).items()} | {"facts": 1.0}
        )
        <= 1
    )


def test_a_figure_that_is_no_number_is_refused() -> None:
    for wrong in ({"value": float("nan")}, {"factors": {"trust": float("inf")}}):
        with pytest.raises(ValidationError):
            Confidence(**{"step": 1, "value": 0.5, **wrong})  # type: ignore[arg-type]
