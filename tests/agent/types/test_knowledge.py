"""What a confidence was counted from: whole and in range, or not known at all."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agent.evidence.confidence import worth
from agent.types import Confidence
from agent.types.knowledge import COUNTED, GROUND, LATER

PLAIN = dict.fromkeys(GROUND, 0.5) | {"conflicts": 0.0}
WHOLE = PLAIN | dict.fromkeys(COUNTED, 1.0)


def test_the_counts_are_whole_or_none() -> None:
    for basis in ({}, PLAIN, WHOLE):
        assert Confidence(step=1, value=0.5, basis=basis).basis == basis and 0 <= worth(basis) <= 1
    for lost in ("trust", "told", "chain"):
        with pytest.raises(ValidationError, match="not whole"):
            Confidence(step=1, value=0.5, basis={name: figure for name, figure in WHOLE.items() if name != lost})


def test_what_was_not_counted_at_first_spoke_for_nothing() -> None:
    old = {name: figure for name, figure in WHOLE.items() if name not in LATER}
    assert Confidence(step=1, value=0.5, basis=old).basis == WHOLE | dict.fromkeys(LATER, 0.0)


@pytest.mark.parametrize(("name", "figure"), [("missing", 1e9), ("bearing", -1.0), ("left", float("nan")), ("facts", float("inf"))])
def test_a_count_has_its_range(name: str, figure: float) -> None:
    with pytest.raises(ValidationError, match="range"):
        Confidence(step=1, value=0.5, basis=WHOLE | {name: figure})
    top = {name: most for name, (_, most) in (GROUND | COUNTED).items()}
    assert 0 <= worth(top) <= 1 and 0 <= worth({name: least for name, (least, _) in (GROUND | COUNTED).items()} | {"facts": 1.0}) <= 1


def test_a_figure_that_is_no_number_is_refused() -> None:
    for wrong in ({"value": float("nan")}, {"factors": {"trust": float("inf")}}):
        with pytest.raises(ValidationError):
            Confidence(**{"step": 1, "value": 0.5, **wrong})  # type: ignore[arg-type]
