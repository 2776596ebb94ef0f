"""The inputs of a confidence: complete and in range, or none; checked when a state is folded."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agent.engine.run_state import RunState
from agent.engine.state import merge
from agent.evidence.confidence import (
    ANSWER_INPUTS,
    BASE_INPUTS,
    DEFAULTED_INPUTS,
    complete_basis,
    compute_value,
)
from agent.types import Confidence

PLAIN = dict.fromkeys(BASE_INPUTS, 0.5) | {"conflicts": 0.0}
WHOLE = PLAIN | dict.fromkeys(ANSWER_INPUTS, 1.0)


def build(basis: dict[str, float]) -> Confidence:
    return complete_basis(Confidence(step=1, value=0.5, basis=basis))


def test_the_inputs_are_complete_or_none() -> None:
    for basis in ({}, PLAIN, WHOLE):
        assert build(basis).basis == basis and 0 <= compute_value(basis) <= 1
    for lost in ("trust", "told", "chain"):
        with pytest.raises(ValueError, match="missing or unknown"):
            build({name: figure for name, figure in WHOLE.items() if name != lost})


def test_inputs_that_early_versions_did_not_store_count_as_zero() -> None:
    old = {name: figure for name, figure in WHOLE.items() if name not in DEFAULTED_INPUTS}
    assert build(old).basis == WHOLE | dict.fromkeys(DEFAULTED_INPUTS, 0.0)
    state = merge(RunState(), {"confidence": [{"step": 1, "value": 0.5, "basis": old}]})
    assert state.confidence[0].basis["closed"] == 0.0


def test_a_state_refuses_inputs_that_the_formula_cannot_use() -> None:
    with pytest.raises(ValidationError, match="missing or unknown"):
        merge(RunState(), {"confidence": [{"step": 1, "value": 0.5, "basis": {"trust": 1.0}}]})


@pytest.mark.parametrize(("name", "figure"), [("missing", 1e9), ("bearing", -1.0), ("left", 2.0)])
def test_an_input_has_its_range(name: str, figure: float) -> None:
    with pytest.raises(ValueError, match="range"):
        build(WHOLE | {name: figure})
    ranges = BASE_INPUTS | ANSWER_INPUTS
    top = {name: most for name, (_, most) in ranges.items()}
    bottom = {name: least for name, (least, _) in ranges.items()} | {"facts": 1.0}
    assert 0 <= compute_value(top) <= 1 and 0 <= compute_value(bottom) <= 1


@pytest.mark.parametrize(
    "wrong",
    [{"value": float("nan")}, {"factors": {"trust": float("inf")}}, {"basis": {"facts": float("inf")}}],
)
def test_a_figure_that_is_no_number_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Confidence(**{"step": 1, "value": 0.5, **wrong})
