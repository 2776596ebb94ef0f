"""The `check_text` flow: each claim of a text against the sources it cites."""

from __future__ import annotations

from agent.engine.loop import Flow
from agent.flows.check_text.state import CheckTextState
from agent.flows.check_text.steps import check, describe_step, fetch, read, result, search, sort
from agent.types import Edge, Status

CHECK_TEXT = Flow(
    name="check_text",
    first_step="read",
    own_state=CheckTextState,
    steps={step.__name__: step for step in (read, sort, fetch, search, check, result)},
    rest_statuses={"done": Status.DONE},
    write_up_step="result",
    reentry_step="fetch",
    describe_step=describe_step,
    edges=(
        Edge(start="read", end="sort", label="with a model"),
        Edge(start="read", end="fetch"),
        Edge(start="read", end="search", label="nothing is cited"),
        Edge(start="read", end="check", label="nothing to fetch"),
        Edge(start="read", end="result", label="not readable, no claim"),
        Edge(start="sort", end="sort", label="more sentences"),
        Edge(start="sort", end="fetch"),
        Edge(start="sort", end="search", label="nothing is cited"),
        Edge(start="sort", end="check", label="nothing to fetch"),
        Edge(start="sort", end="result", label="no claim"),
        Edge(start="fetch", end="fetch", label="more sources"),
        Edge(start="fetch", end="read", label="the text tried again"),
        Edge(start="fetch", end="search", label="if wanted"),
        Edge(start="fetch", end="check"),
        Edge(start="fetch", end="result", label="nothing to check"),
        Edge(start="search", end="search", label="more claims"),
        Edge(start="search", end="fetch", label="pages found"),
        Edge(start="search", end="check"),
        Edge(start="check", end="check", label="more claims"),
        Edge(start="check", end="result", label="all checked"),
        Edge(start="result", end="done"),
    ),
)
