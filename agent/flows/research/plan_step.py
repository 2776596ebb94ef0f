"""The step that plans: a model splits the question, while the first search already runs. Step by step a
person sees the plan before anything is searched; a follow-up is planned first, as a question of its own."""

from __future__ import annotations

from agent.answering import fact_view
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.research.policy import find_secrets
from agent.flows.research.state import ResearchRun
from agent.roles.research import PLAN
from agent.types import ENGINE_BY_ACTION, describe_actions

CHECK_PLAN = "check_plan"
"""Where a run that goes step by step waits for a person to approve the plan."""

PLAN_EDIT = "changed the plan"
"""How a person's edit of the plan begins in the list of edits."""


def needs_plan(state: ResearchRun, tools: RunContext) -> bool:
    """Whether a plan is to be made first: nothing was done yet, and there is a model."""
    return tools.has_model and not (state.plan_parts or state.actions or state.answers)


def is_plan_edited(state: ResearchRun) -> bool:
    """Whether a person changed the plan: its parts, not the question, are what is asked since."""
    return any(edit.text.startswith(PLAN_EDIT) for edit in state.edits)


def plan(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Make the plan, unless a person wrote one meanwhile. The pending round, when there is one, is begun
    before and carried out next."""
    if is_plan_edited(state):
        return {}, "act" if state.pending else "decide"
    if state.pending:
        first = state.pending
        if engine := ENGINE_BY_ACTION.get(first.next_action):
            if not find_secrets(state, first.query_or_url):
                tools.side_by_side.search_ahead(engine, first.query_or_url)
        else:
            tools.side_by_side.fetch_ahead([first.query_or_url], 1)
    judgement = tools.judge(
        PLAN,
        question=state.question if state.history else state.full_question,
        notes=fact_view.public_note_texts(state),
        history=fact_view.public_history(state),
        engines=describe_actions(state.settings.engines or tools.world.engines),
        report=state.settings.report,
        today=tools.today(),
    )
    reply, readings = judgement.value, judgement.value.choices
    parts = reply.to_parts(state.full_question, judgement.by)
    change: Change = {
        "plan_parts": parts,
        "ambiguity": reply.ask.strip() if readings else "",
        "meanings": readings,
        "plan_trouble": judgement.failure,
    }
    if state.history and judgement.by == "model":
        change["asked"] = " ".join(part.question for part in parts)
    return change, "act" if state.pending else CHECK_PLAN if state.settings.stop_point == "step" else "decide"


def describe_reading(state: ResearchRun) -> str:
    """How an ambiguous question was read where no person could be asked, as it was decided last; "" where
    none was needed."""
    asked = [action.detail for action in state.actions if action.action == "ask" and action.detail]
    if asked or state.settings.stop_point == "step" or not state.own.meanings:
        return asked[-1] if asked else ""
    first, *others = state.own.meanings
    also = " or ".join(f"“{other}”" for other in others)
    return f"The question was read as “{first}”; it can also mean {also}."
