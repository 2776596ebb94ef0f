"""The `verify_again` flow: whether each quote of a run's answer still stands on its page today."""

from __future__ import annotations

from agent.engine.loop import Flow
from agent.flows.verify_again.state import VerifyAgainState
from agent.flows.verify_again.steps import describe_step, fetch, list_quotes, result
from agent.types import Edge, Status

VERIFY_AGAIN = Flow(
    name="verify_again",
    first_step="list_quotes",
    own_state=VerifyAgainState,
    steps={step.__name__: step for step in (list_quotes, fetch, result)},
    rest_statuses={"done": Status.DONE},
    write_up_step="result",
    reentry_step="fetch",
    describe_step=describe_step,
    edges=(
        Edge(start="list_quotes", end="fetch"),
        Edge(start="list_quotes", end="result", label="no page to fetch"),
        Edge(start="fetch", end="fetch", label="more pages"),
        Edge(start="fetch", end="result"),
        Edge(start="result", end="done"),
    ),
)
