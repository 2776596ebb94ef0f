"""The picture of a flow."""

from __future__ import annotations

import re

import pytest

from agent.flows import FLOWS
from docs.make_reference import DECISIONS, render_mermaid


@pytest.mark.parametrize("name", FLOWS)
def test_every_flow_is_a_whole_picture(name):
    """Each step has a way out and a way in, each edge joins steps or rests that are there."""
    flow = FLOWS[name]
    places = {*flow.steps, *flow.rest_statuses}
    for edge in flow.edges:
        assert edge.start in places and edge.end in places, edge
        assert not edge.rest or edge.rest in flow.rest_statuses
    assert {edge.start for edge in flow.edges} >= set(flow.steps)
    reached = {flow.first_step, flow.write_up_step, flow.reentry_step} | {edge.end for edge in flow.edges}
    assert reached >= set(flow.steps)
    drawn = render_mermaid(
        flow.first_step,
        flow.edges,
        rests={rest: rest for rest in flow.rest_statuses},
        decisions=DECISIONS.get(name, {}),
    )
    assert len(re.findall(r"-->", drawn)) == len(flow.edges) + 1 + len(DECISIONS.get(name, {}))
