"""The picture of a flow with a run's way through it."""

from __future__ import annotations

from agent.flows import FLOWS, draw_flow
from agent.types import Step
from pages.widgets.run import flow_diagram


def _steps(*names: str, end: str) -> list[Step]:
    return [
        Step(n=n, name=name, change={}, next=after, by="keyless")
        for n, (name, after) in enumerate(zip(names, [*names[1:], end], strict=True))
    ]


def test_the_way_is_marked_in_the_flows_own_picture():
    steps = _steps("ask", "gate", "select", "load", "write", end="replied")
    drawn = flow_diagram.render_mermaid(FLOWS["reply"], steps)
    assert draw_flow(FLOWS["reply"]) in drawn and drawn.startswith("%%{init:")
    assert "class gate,select,load,write,replied taken" in drawn and drawn.count("linkStyle") == 1
    links = [line for line in draw_flow(FLOWS["reply"]).splitlines() if "-->" in line]
    marked = [links[int(n)].strip() for n in drawn.split("linkStyle ")[1].split(" ")[0].split(",")]
    assert marked == [
        "ask([question]) --> gate",
        'gate -->|"answerable"| select',
        "select --> load",
        "load --> write",
        'write -->|"if disabled"| replied',
    ]


def test_the_step_a_run_is_at_stands_out_and_night_has_its_colours():
    drawn = flow_diagram.render_mermaid(
        FLOWS["chat"], _steps("ask", "router", end="retrieve"), working="retrieve", dark=True
    )
    assert (
        "class retrieve working" in drawn
        and "router_choice" in drawn.split("class router")[1].split("\n")[0]
        and "#14181a" in drawn
    )


def test_both_ends_of_a_reply_have_their_names():
    drawn = draw_flow(FLOWS["reply"])
    assert 'silent(["should_reply is false"])' in drawn and 'replied(["should_reply is true"])' in drawn
    assert 'END(["the end"])' in draw_flow(FLOWS["chat"])


def test_a_way_is_told_in_words_and_a_long_one_counted():
    assert flow_diagram.describe_path([]) == "No step is taken yet."
    assert flow_diagram.describe_path(["decide", "judge_plainly"]) == "Workflow: decide → judge plainly"
    assert (
        flow_diagram.describe_path(["decide", "search"] * 9 + ["report"])
        == "Workflow: decide 9 times, search 9 times, report"
    )
