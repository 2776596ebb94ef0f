"""A person's control of a run: approve, change or skip the next action; give guidance; pause, stop, resume;
accept the answer or send it back. Each is one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from agent.actions import validation
from agent.actions.commit import (
    ASKED_BY_PERSON,
    GO_ON,
    RECOVER,
    UNANSWERED_STATUSES,
    PersonStep,
    commit,
    require_status,
)
from agent.actions.context import ActionContext
from agent.actions.plan_edits import approve_plan
from agent.answering.recompute import record_note
from agent.answering.revision import describe_target
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change, state_after
from agent.errors import NotFound, UsageError
from agent.flows import FLOWS
from agent.flows.chat import dialogue
from agent.flows.research import policy
from agent.flows.research.plan_step import CHECK_PLAN
from agent.store.ledger import utc_timestamp
from agent.text.urls import complete_typed_url
from agent.types import Note, Proposal, Refusal, Status, describe_action


def approve(bench: ActionContext, run_id: str, head: int, index: int | None = None) -> None:
    """Let the pending action run as it is: of a round the one at `index`, else all; or go on by the plan that
    waits. The round runs when each of its actions is decided. Raises ConcurrentChange when the run moved
    since step `head`."""
    if bench.snapshot(run_id).next == CHECK_PLAN:
        approve_plan(bench, run_id, head)
        return
    actions = _get_pending(bench, run_id).actions
    chosen = range(len(actions)) if index is None else [_check_index(actions, index)]
    marked = [a.replace(approved=a.approved or n in chosen) for n, a in enumerate(actions)]
    commit(bench, run_id, "approve", _decide_round(bench, run_id, marked, {}), head=head)


def edit(
    bench: ActionContext, run_id: str, head: int, action: str, query_or_url: str, index: int = 0
) -> None:
    """Run another action, query or address instead of the pending one, of a round instead of the one at
    `index`. Writing the answer instead drops the whole round."""
    actions, text = _get_pending(bench, run_id).actions, query_or_url.strip()
    text = complete_typed_url(text) if action == "crawl_url" else text
    view = bench.snapshot(run_id)
    engines = bench.worker.world(view.run.settings.world).engines
    validation.check_action(action, text, policy.available_actions(view.state, engines, utc_timestamp()))
    pending = actions[_check_index(actions, index)]
    reasoning = pending.reasoning
    proposed = describe_action(pending.next_action, view.run.settings.world)
    if (action, text) != (pending.next_action, pending.query_or_url):
        reasoning = f"changed by a person (proposed: {proposed} {pending.query_or_url})"
    changed = Proposal(
        next_action=action,
        query_or_url=text,
        part=pending.part,
        reasoning=reasoning,
        by="person",
        approved=True,
    )
    actions = [changed] if action == "send_to_hitl" else [*actions[:index], changed, *actions[index + 1 :]]
    commit(bench, run_id, "edit", _decide_round(bench, run_id, actions, {}), head=head)


def skip(bench: ActionContext, run_id: str, head: int, index: int | None = None) -> None:
    """Skip the pending action, of a round the one at `index`, else all: the next decision must be another."""
    actions = _get_pending(bench, run_id).actions
    chosen = range(len(actions)) if index is None else [_check_index(actions, index)]
    refusals = [
        Refusal(what=a.query_or_url or a.next_action, why="skipped by a person", step=head + 1)
        for n, a in enumerate(actions)
        if n in chosen
    ]
    left = [a for n, a in enumerate(actions) if n not in chosen]
    step = _decide_round(bench, run_id, left, {"refusals": refusals})
    commit(bench, run_id, "skip", step, head=head)


def answer(bench: ActionContext, run_id: str, head: int, index: int, text: str) -> None:
    """Answer a question that the round puts to the person: a note for the decisions to come."""
    actions = _get_pending(bench, run_id).actions
    asked = actions[_check_index(actions, index)]
    if asked.next_action != "ask" or not text.strip():
        raise UsageError("choose a reading, or write one: the run goes on with it")
    note, columns = _record_note(
        bench.snapshot(run_id), f"{asked.query_or_url} {text.strip()}", "steer", private=False
    )
    left = [a for n, a in enumerate(actions) if n != index]
    step = _decide_round(bench, run_id, left, note)
    commit(bench, run_id, "steer", replace(step, columns={**columns, **step.columns}), head=head)


def _decide_round(
    bench: ActionContext, run_id: str, actions: Sequence[Proposal], change: Change
) -> PersonStep:
    """The step of a person who decided on actions of the pending round: it waits on while one is open, runs
    when all are approved, and is decided anew when none is left."""
    flow = FLOWS[bench.store.ledger.get(run_id).settings.flow]
    if not actions:
        return PersonStep(*flow.reenter(change), GO_ON)
    if not all(action.approved for action in actions):
        return PersonStep({**change, "pending": Proposal.join(actions)})
    ready = Proposal.join([action.replace(approved=False) for action in actions])
    return PersonStep({**change, "pending": ready}, flow.find_approved_step(actions[0]), GO_ON)


def _check_index(actions: Sequence[Proposal], index: int) -> int:
    """The index, if the pending round has so many actions. Raises UsageError."""
    if not 0 <= index < len(actions):
        raise UsageError(f"the round has no action {index + 1}: it has {len(actions)}")
    return index


def steer(bench: ActionContext, run_id: str, note: str, *, private: bool = False) -> None:
    """Give guidance that the run's next decision follows; where the run asks something, this is the answer.
    Nothing of a `private` note goes out: it shapes no search, and no export or share holds it."""
    run, text = bench.store.ledger.get(run_id), note.strip()
    if not text:
        raise UsageError("the note is empty: say what the run should do")
    if run.status in (Status.DONE, Status.REVIEW):
        raise UsageError("the run has ended: send the answer back with your note instead")
    flow = FLOWS[run.settings.flow]
    if run.status is Status.WAITING and "decide" not in flow.steps:
        respond(bench, run_id, bench.store.ledger.position(run_id)[0], text)
        return

    def build_step(view: RunSnapshot) -> PersonStep:
        change, columns = _record_note(view, text, "steer", private=private)
        if view.run.status is Status.WAITING:  # the pending action was proposed without the note
            again = "plan" if view.next == CHECK_PLAN else "decide"
            return PersonStep({**change, "pending": None}, again, {**columns, **GO_ON})
        if flow.is_ending(view.next):  # it was decided without the note, too
            return PersonStep(*flow.reenter(change), columns)
        return PersonStep(change, columns=columns)

    commit(bench, run_id, "steer", build_step, among=(*UNANSWERED_STATUSES, Status.WAITING))


def _record_note(
    view: RunSnapshot, text: str, kind: Literal["steer", "send_back"], *, private: bool
) -> tuple[Change, dict[str, Any]]:
    """The change of a note, and the columns of the run that follow from it."""
    change = record_note(view.state, Note(step=view.head + 1, text=text, kind=kind, private=private))
    return change, state_after(view.state, change).summary()


def respond(bench: ActionContext, run_id: str, head: int, text: str) -> None:
    """Answer the clarifying question of a chat. Raises ConcurrentChange when the run moved since step `head`
    or asks nothing, UsageError."""
    _require_status(bench, run_id, "answer", Status.WAITING)
    change = dialogue.build_clarification_change(bench.snapshot(run_id).state, text)
    commit(bench, run_id, "respond", PersonStep(change, "retrieve", GO_ON), head=head)


def leave(bench: ActionContext, view: RunSnapshot) -> None:
    """End a chat that waits for an answer, because the person went on with another question."""
    step = PersonStep({"control": "left"}, "end", {"status": Status.DONE})
    commit(bench, view.run.id, "leave", step, head=view.head, among=(Status.WAITING,))


def pause(bench: ActionContext, run_id: str) -> None:
    """Finish the current step, then rest."""
    step = PersonStep({"control": "paused"}, columns={"control": "pause"})
    commit(bench, run_id, "pause", step, among=(Status.RUNNING,))


def stop(bench: ActionContext, run_id: str) -> None:
    """Stop at once; a fetch or model call under way is abandoned."""
    among: tuple[Status, ...] = (Status.RUNNING,)
    columns: dict[str, Any] = {"control": "stop"}
    if bench.store.ledger.get(run_id).status is not Status.RUNNING:
        among, columns = (Status.PAUSED, Status.WAITING), {"status": Status.STOPPED, "control": ""}
    commit(bench, run_id, "stop", PersonStep({"control": "stopped"}, columns=columns), among=among)


def resume(bench: ActionContext, run_id: str) -> None:
    """Go on where the run rested."""
    run, (head, upcoming, _) = bench.store.ledger.get(run_id), bench.store.ledger.position(run_id)
    status = FLOWS[run.settings.flow].rest_statuses.get(upcoming, Status.RUNNING)
    step = PersonStep({"control": "resumed", "halt": None}, columns={**RECOVER, "status": status})
    commit(bench, run_id, "resume", step, head=head, among=UNANSWERED_STATUSES)


def finish(bench: ActionContext, run_id: str) -> None:
    """Write the answer now, from what was found so far."""
    flow = FLOWS[bench.store.ledger.get(run_id).settings.flow]
    step = PersonStep({**ASKED_BY_PERSON, "pending": None, "halt": None}, flow.write_up_step, RECOVER)
    commit(bench, run_id, "finish", step, among=(*UNANSWERED_STATUSES, Status.WAITING))


def accept(bench: ActionContext, run_id: str, head: int) -> None:
    """Accept the answer: the run is done."""
    _require_status(bench, run_id, "accept", Status.REVIEW)
    step = PersonStep({"control": "accepted"}, "done", {"status": Status.DONE, "control": ""})
    commit(bench, run_id, "accept", step, head=head)


def send_back(bench: ActionContext, run_id: str, head: int, note: str, *, private: bool = False) -> None:
    """Send the answer back: the run goes on with the note and all it has learnt. `private`: see `steer`."""
    _require_status(bench, run_id, "send back", Status.REVIEW)
    if not note.strip():
        raise UsageError("say in the note what is wrong or missing, so that the run can do better")
    flow = FLOWS[bench.store.ledger.get(run_id).settings.flow]

    def build_step(view: RunSnapshot) -> PersonStep:
        change, columns = _record_note(view, note.strip(), "send_back", private=private)
        return PersonStep(*flow.reenter(change), {**columns, **GO_ON})

    commit(bench, run_id, "send_back", build_step, head=head, among=(Status.REVIEW,))


def comment(
    bench: ActionContext, run_id: str, head: int, target: str, text: str, *, private: bool = False
) -> None:
    """Comment on one sentence ("s3") or section ("h2") of the newest answer: a round for that part begins,
    the rest of the answer stays. `private`: see `steer`. Raises UsageError, ConcurrentChange."""
    _require_status(bench, run_id, "comment", Status.REVIEW)
    if not text.strip():
        raise UsageError("the comment is empty: say what the sentence lacks, for example “source?”")
    flow = FLOWS[bench.store.ledger.get(run_id).settings.flow]
    if "revise" not in flow.steps:
        raise UsageError(f"comments are for the answers of research runs; this is a {flow.name} run")

    def build_step(view: RunSnapshot) -> PersonStep:
        quoted = describe_target(view.state.answers[-1], target)
        if not quoted:
            count = len(view.state.answers[-1].sentences)
            raise UsageError(f"the answer has no sentence {target}: they are s1 to s{count}, headings h1 …")
        note = Note(step=view.head + 1, text=text.strip(), kind="comment", about=target, quoted=quoted)
        note = note.replace(private=private)
        change = record_note(view.state, note)
        columns = state_after(view.state, change).summary()
        return PersonStep(*flow.reenter(change), {**columns, **GO_ON})

    commit(bench, run_id, "comment", build_step, head=head, among=(Status.REVIEW,))


def reopen(bench: ActionContext, run_id: str, head: int) -> None:
    """Open an accepted answer again for review: it can be sent back, commented on and edited as before."""
    _require_status(bench, run_id, "reopen", Status.DONE)
    view = bench.snapshot(run_id)
    if "review" not in FLOWS[view.run.settings.flow].rest_statuses or not view.state.answers:
        raise UsageError("this run has no answer to review: ask a further question instead")
    step = PersonStep({"control": "reopened"}, "review", {"status": Status.REVIEW, "control": ""})
    commit(bench, run_id, "reopen", step, head=head, among=(Status.DONE,))


def _require_status(bench: ActionContext, run_id: str, what: str, status: Status) -> None:
    require_status(bench.store.ledger.get(run_id).status, what, (status,))


def _get_pending(bench: ActionContext, run_id: str) -> Proposal:
    _require_status(bench, run_id, "decide", Status.WAITING)
    pending = bench.snapshot(run_id).state.pending
    if pending is None:
        raise NotFound("no action waits for approval")
    return pending
