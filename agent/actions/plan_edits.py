"""A person's edits of the plan of a run: parts are added, reworded, put in another order, dropped. Each is
one step; facts of a dropped part stay, and are given to the part that they bear on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from agent.actions.commit import ANSWERED_STATUSES, GO_ON, PersonStep
from agent.answering.fact_view import find_free_id
from agent.answering.pages import offer_again
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.flows.research.policy import PLAN_EDIT
from agent.roles.research import MAX_PARTS
from agent.text.plurals import clip
from agent.types import Edit, Fact, Note, PlanPart, Status

MAX_QUESTION_CHARS = 400


def replan(
    view: RunSnapshot,
    parts: Annotated[
        Sequence[str],
        Field(description="the parts of the plan in order; one that reads as before is that part"),
    ],
) -> PersonStep:
    """Replace the plan by these parts. The next decision is made by the new plan. Of a run with an answer the
    research goes on where a part was added or reworded, else the answer is written again."""
    flow = FLOWS[view.run.settings.flow]
    plan = build_plan(view.state.plan, match_parts(view.state.plan, parts), view.state.facts.values())
    change = build_change(view.state, view.head + 1, plan)
    has_new = any(part.status == "open" and part.by == "person" for part in plan)
    if view.run.status in ANSWERED_STATUSES and not has_new:
        return PersonStep(change, flow.write_up_step, GO_ON)
    if view.run.status in (*ANSWERED_STATUSES, Status.WAITING) or flow.is_ending(view.next):
        return PersonStep(*flow.reenter(change), GO_ON)
    return PersonStep(change)


def approve_plan(view: RunSnapshot, reading: str = "") -> PersonStep:
    """The step that goes on by the plan that is shown. `reading` is which of the run's readings was meant, or
    the person's own words: it becomes a note, and the plan is made anew where it follows another one."""
    said, readings = " ".join(reading.split()), view.state.own.meanings
    if not readings or not said:
        return PersonStep({}, "decide", GO_ON, name="approve_plan")
    note = Note(step=view.head + 1, text=f"{view.state.own.ambiguity} {said}", kind="steer")
    next = "decide" if said == readings[0] else "plan"
    return PersonStep({"notes": [note]}, next, GO_ON, name="approve_plan")


def build_plan(
    plan: Sequence[PlanPart], asked: Sequence[tuple[str, str]], facts: Iterable[Fact] = ()
) -> list[PlanPart]:
    """The plan of these parts (the id of the part it was or "", question): kept parts with their state, new
    and reworded ones open and the person's. No new one has the id of a dropped part that one of the run's
    `facts` bears on. Raises UsageError."""
    known = {part.id: part for part in plan}
    if not asked or not all(question for _, question in asked):
        raise UsageError("each part of the plan needs a question, and the plan at least one part")
    if len(asked) > MAX_PARTS:
        raise UsageError(f"a plan has at most {MAX_PARTS} parts: drop or join some of the {len(asked)}")
    if long := next((text for _, text in asked if len(text) > MAX_QUESTION_CHARS), ""):
        raise UsageError(f"this part is longer than {MAX_QUESTION_CHARS} characters: “{clip(long)}…”")
    keys = [_key(question) for _, question in asked]
    if twice := next((text for n, (_, text) in enumerate(asked) if keys[n] in keys[:n]), ""):
        raise UsageError(f"two parts of the plan ask the same, keep one: “{clip(twice)}”")
    free = find_free_id(plan, facts)
    changed = list[PlanPart]()
    for id, question in asked:
        if id and question == " ".join(known[id].question.split()):
            changed.append(known[id])
            continue
        kept = known[id] if id else PlanPart(id=str(free), question="")
        free += not id
        changed.append(kept.replace(question=question, status="open", confidence=0.0, by="person"))
    names = {part.id for part in changed}
    changed = [part.replace(after=[id for id in part.after if id in names]) for part in changed]
    if changed == list(plan):
        raise UsageError("nothing was changed in the plan")
    return changed


def match_parts(plan: Sequence[PlanPart], lines: Sequence[str]) -> list[tuple[str, str]]:
    """The parts that a person wrote, with the ids of those they were: a line that is a part's question, or
    reads as it is shown, is that part; the others, when they are as many as the parts left, reword them in
    order; else they are new. Equal lines count once, blank ones not."""
    known = {part.id: " ".join(part.question.split()) for part in plan}
    shown = {_key(text): text for text in known.values()}
    once, left = dict[str, str](), dict[str, str]()
    for line in filter(None, (" ".join(line.split()) for line in lines)):
        once.setdefault(_key(line), shown.get(_key(line), line))
    for id, text in known.items():
        left.setdefault(text, id)
    named = [(left.pop(line, ""), line) for line in once.values()]
    free = list(left.values()) if len(left) == sum(not id for id, _ in named) else []
    return [(id or (free.pop(0) if free else ""), line) for id, line in named]


def _key(question: str) -> str:
    """Equal for two questions that read the same, but for case, blanks and the mark at the end."""
    return " ".join(question.split()).rstrip("?. ").casefold()


def build_change(state: RunState, step: int, plan: Sequence[PlanPart]) -> Change:
    """The change of a new plan: with the confidence that it gives, and what was done in words. What was asked
    anew is not answered by what a model said before, and all pages may be read again for it."""
    known = {(part.id, part.question) for part in state.plan}
    asked = {part.id for part in plan if (part.id, part.question) not in known}
    change: Change = {"plan_parts": list(plan)}
    if asked:
        change["pages"] = offer_again(state.pages.values())
    if asked and (report := state.own.report):
        answered = [name for name in report.get("answered_parts", ()) if name not in asked]
        change["report"] = {**report, "answered_parts": answered}
    return {**change, "edits": [Edit(step=step, text=describe_plan_edit(state.plan, plan))]}


def describe_plan_edit(before: Sequence[PlanPart], after: Sequence[PlanPart]) -> str:
    """What a person changed in the plan, for a list of edits."""
    old, new = {part.id: part for part in before}, {part.id: part for part in after}
    said = [f"added “{part.question}”" for id, part in new.items() if id not in old]
    said += [f"dropped “{part.question}”" for id, part in old.items() if id not in new]
    said += [
        f"reworded “{old[id].question}” to “{part.question}”"
        for id, part in new.items()
        if id in old and part.question != old[id].question
    ]
    if [id for id in new if id in old] != [id for id in old if id in new]:
        said.append("put the parts in another order")
    return f"{PLAN_EDIT}: {'; '.join(said)}"
