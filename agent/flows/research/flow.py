"""The `research` flow: decide, search and read side by side, analyze, decide again, until there is a report
to review.

decide -> act | report, through a person's approval when the run goes step by step, before the first round
through the plan; act -> analyze -> decide; report -> review, a full report by outline -> sections -> review.
Accepting ends the run, sending back leads to decide: decide -> revise -> decide | report."""

from __future__ import annotations

from agent.answering import fact_view
from agent.answering.revision import pause_for_exclusion, state_understood
from agent.engine.loop import Flow
from agent.engine.state import Change
from agent.flows.research.analyze_pages import analyze
from agent.flows.research.policy import CHECK_PLAN
from agent.flows.research.report_steps import outline, report, sections
from agent.flows.research.revise import revise
from agent.flows.research.state import ResearchState
from agent.flows.research.steps import act, decide, plan
from agent.text.plurals import format_count
from agent.types import Edge, NoteReading, PlanPart, Status, describe_action


def describe_step(name: str, change: Change) -> str:
    """A step in a line for a person, "" when the step has nothing worth reporting."""
    if name == "plan":
        skipped = f" (not planned: {change['plan_trouble']})" if change.get("plan_trouble") else ""
        return "; ".join(part["question"] for part in change.get("plan_parts", [])) + skipped
    if name == "decide" and (pending := change.get("pending")):
        refused = "".join(
            f"\n       refused: {refusal['what']}: {refusal['why']}" for refusal in change.get("refusals", [])
        )
        lines = [
            f"{describe_action(one['next_action'])} {one.get('query_or_url') or ''}".rstrip()
            + f" — {one.get('reasoning', '')}"
            for one in [pending, *pending.get("beside", [])]
        ]
        return "\n       ".join(lines) + refused
    if name in ("act", "search", "crawl") and change.get("actions"):
        return "; ".join(
            f"{done['outcome']}{': ' + done['detail'] if done['detail'] else ''}"
            + (f", {done['hits']} results" if done["hits"] else "")
            for done in change["actions"]
        )
    if name == "revise" and (read := change.get("readings")):
        plan = [PlanPart.model_validate(part) for part in change.get("plan_parts", [])]
        return state_understood(NoteReading.model_validate(read[-1]), plan)
    if name == "outline":
        return "; ".join(section["heading"] for section in change["outline"]["sections"])
    if name == "analyze" and (said := change.get("assessments")):
        count = sum(fact["verified"] and fact["step"] == said[-1]["step"] for fact in change["facts"])
        return format_count(count, "fact")
    return ""


RESEARCH = Flow(
    name="research",
    first_step="decide",
    own_state=ResearchState,
    steps={step.__name__: step for step in (decide, plan, act, analyze, revise, report, outline, sections)},
    rest_statuses={
        "approve": Status.WAITING,
        CHECK_PLAN: Status.WAITING,
        "check_outline": Status.WAITING,
        "review": Status.REVIEW,
        "done": Status.DONE,
    },
    write_up_step="report",
    write_up_tail=("outline", "sections"),
    reentry_step="decide",
    describe_step=describe_step,
    find_pause_request=lambda state: pause_for_exclusion(state) or fact_view.pause_for_new_conflicts(state),
    edges=(
        Edge(start="decide", end="act", label="up to four searches and pages", rest="approve"),
        Edge(start="decide", end="report", label="enough, or stuck", rest="approve"),
        Edge(start="decide", end="analyze", label="read, not weighed yet"),
        Edge(start="decide", end="revise", label="a note on the answer"),
        Edge(start="revise", end="decide", label="something to look for"),
        Edge(start="revise", end="report", label="only the text"),
        Edge(start="decide", end="plan", label="nothing was done yet"),
        Edge(start="plan", end="act", label="the first search runs meanwhile"),
        Edge(start="plan", end="decide", label="step by step", rest=CHECK_PLAN),
        Edge(start="act", end="analyze"),
        Edge(start="act", end="act", label="interrupted"),
        Edge(start="analyze", end="decide"),
        Edge(start="report", end="review"),
        Edge(start="report", end="outline", label="full report"),
        Edge(start="report", end="sections", label="outline holds"),
        Edge(start="outline", end="sections", rest="check_outline"),
        Edge(start="sections", end="review"),
        Edge(start="review", end="decide", label="sent back"),
        Edge(start="review", end="report", label="facts or length changed"),
        Edge(start="review", end="sections", label="outline edited"),
        Edge(start="review", end="done", label="accepted"),
    ),
)
