"""What new facts do to a run that knows more facts than a step compares."""

from __future__ import annotations

from agent.answering.fact_intake import add_facts
from agent.answering.fact_view import MAX_PROMPT_FACTS
from agent.engine.run_state import RunState
from agent.engine.state import state_after
from agent.types import Fact


def said(name: str, text: str, relevance: float = 0.9) -> Fact:
    url = f"https://{name}.example/"
    return Fact(
        id=name, statement=text, quote=text, url=url, page_id=name, verified=True, relevance=relevance, step=1
    )


def test_a_conflict_between_facts_that_are_not_compared_any_more_stays_open() -> None:
    state = RunState(question="When were the mills of Orrin and the yards of Selm built?")
    sides = [
        said("a", "The mill of Orrin was built in 1921.", 0.1),
        said("b", "The mill of Orrin was built in 1934.", 0.1),
    ]
    state = state_after(state, add_facts(state, 1, sides))
    [conflict] = state.conflicts.values()
    assert conflict.status == "open" and state.facts["a"].disputed
    more = [said(f"m{n}", f"Yard {n} of Selm has {n + 3} cranes.") for n in range(MAX_PROMPT_FACTS + 5)]
    state = state_after(state, add_facts(state, 2, more))
    state = state_after(state, add_facts(state, 3, [said("new", "The quay of Selm is 40 metres long.")]))
    assert state.conflicts[conflict.id].status == "open" and state.facts["a"].disputed
    state.facts["b"] = state.facts["b"].replace(decision="struck")
    state.facts["a"] = state.facts["a"].replace(decision="struck")
    state = state_after(state, add_facts(state, 4, [said("last", "The quay of Selm is made of oak.")]))
    assert state.conflicts[conflict.id].status == "settled"
