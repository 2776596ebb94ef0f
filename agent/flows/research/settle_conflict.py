"""Actions that may settle an open conflict on what was asked, before the run hands over: at most
MAX_SETTLING_ACTIONS a conflict and round, counted by `Action.about`. Pure functions of the state."""

from __future__ import annotations

from typing import Any

from agent.answering import fact_view
from agent.answering.model_rulings import open_conflicts
from agent.engine.run_state import RunState
from agent.flows.research import policy
from agent.flows.research.state import ResearchRun
from agent.text.question_analysis import strip_question
from agent.text.urls import site
from agent.types import Conflict, Proposal

MAX_SETTLING_ACTIONS = 2
"""Actions for one conflict before the run may hand over with it (our own judgement: a search, and a page)."""


def conflict_to_settle(state: RunState) -> Conflict | None:
    """The first open conflict on what was asked for which fewer actions were taken."""
    tried = [action.about for action in state.actions_this_round]
    return next(
        (c for c in open_conflicts(state) if c.asks and tried.count(c.id) < MAX_SETTLING_ACTIONS), None
    )


def describe_conflict(state: RunState, conflict: Conflict) -> str:
    """The conflict for the decision: its values with the sites that give them."""
    facts = fact_view.facts_after_notes(state)
    sides = [
        f"{value.text} ({', '.join(dict.fromkeys(site(facts[i].url) for i in value.fact_ids if i in facts))})"
        for value in conflict.values
    ]
    return f"{conflict.topic}: {' or '.join(sides)}"


def propose_settling(state: ResearchRun, conflict: Conflict, actions: list[str]) -> list[Proposal]:
    """A search for the conflict's topic and values, then the unread leads of further sites, best first: what
    of these is allowed."""
    why = f"The sources disagree on {describe_conflict(state, conflict)}; this may settle it."
    more: Any = {"reasoning": why, "by": "code", "about": conflict.id}
    facts = fact_view.facts_after_notes(state)
    involved = {site(facts[i].url) for value in conflict.values for i in value.fact_ids if i in facts}
    proposals = policy.propose_search(state, actions, settling_query(state, conflict), **more)
    proposals += [
        Proposal(next_action="crawl_url", query_or_url=lead.value, **more)
        for lead in policy.open_leads(state)
        if lead.kind == "url" and site(lead.value) not in involved
    ]
    return [proposal for proposal in proposals if policy.check_proposal(state, proposal, actions) is None]


def settling_query(state: RunState, conflict: Conflict) -> str:
    """A query that may find what settles a conflict: the question or the conflict's topic, and its values."""
    topic = conflict.topic.replace("(", "").replace(")", "")
    values = " ".join(value.text for value in conflict.values[:3]) if conflict.kind != "polarity" else ""
    subject = strip_question(state.question).rstrip("?! ") if conflict.asks else topic
    return " ".join(f"{subject} {values}".split())[:200]
