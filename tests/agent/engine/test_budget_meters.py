"""Which actions the counters of a round count."""

from __future__ import annotations

import pytest

from agent.actions.budget import find_last_round_actions
from agent.engine.run_state import RunState
from agent.types import Action, Answer
from tests.records import fill


def state_of(answers: dict[int, str], actions: list[int]) -> RunState:
    """Answers by step with what they came after, "" for a round; actions by step."""
    return RunState(
        answers=[
            Answer(n=n, verdict="partial", step=step, because=why)
            for n, (step, why) in enumerate(answers.items(), 1)
        ],
        actions=[
            fill(Action, step=step, action="crawl_url", query_or_url=f"https://a.example/{step}")
            for step in actions
        ],
    )


@pytest.mark.parametrize(
    ("answers", "counted"),
    [
        ({5: ""}, [1, 2]),
        ({5: "", 9: ""}, [7, 8]),
        ({5: "", 9: "after your edit: changed the plan"}, [7, 8]),
        ({5: "", 9: "", 11: "after your edit: struck a fact"}, [7, 8]),
        ({5: "", 6: "after your edit: struck a fact"}, [1, 2]),
    ],
    ids=["first", "second", "after a change of the plan", "rewritten", "only rewritten"],
)
def test_a_round_counts_the_actions_that_led_to_its_answer(
    answers: dict[int, str], counted: list[int]
) -> None:
    last = max(answers)
    actions = [step for step in (1, 2, 7, 8) if step < last]
    assert [action.step for action in find_last_round_actions(state_of(answers, actions))] == counted
