"""A person's control of a run: approve, change or skip the next action; give guidance; pause, stop, resume;
accept the answer or send it back. Each function works out one step from the run as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from agent.actions import validation
from agent.actions.commit import GO_ON, RECOVER, ActionContext, PersonStep, commit
from agent.actions.conflict_rulings import MAX_REASON_CHARS
from agent.actions.plan_edits import approve_plan
from agent.answering.revision import describe_target
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.flows import FLOWS
from agent.flows.chat import dialogue
from agent.flows.research import policy
from agent.flows.research.policy import CHECK_PLAN
from agent.store.ledger import utc_timestamp
from agent.text.plurals import clip
from agent.text.urls import complete_typed_url
from agent.types import ClaimMark, Note, Overruling, Proposal, Refusal, Status, describe_action

NoteText = Annotated[str, Field(description="what the run should do, or what is wrong or missing")]
Private = Annotated[
    bool,
    Field(description="nothing of the note leaves: no search, page, export or share; it starts no research"),
]
Index = Annotated[int, Field(description="which action of the round, from 0")]
OneOrAll = Annotated[int | None, Field(description="which action of the round, from 0; without it all")]


def approve(
    view: RunSnapshot,
    index: OneOrAll = None,
    reading: Annotated[
        str, Field(description="for a plan: which of the question's readings was meant, or other words")
    ] = "",
) -> PersonStep:
    """Let the pending round, or one action of it, run as it is, or go on by the plan that waits. The round
    runs when each of its actions is decided."""
    if view.next == CHECK_PLAN:
        return approve_plan(view, reading)
    actions = _get_pending(view, index)
    decided = [a.replace(approved=a.approved or index in (None, n)) for n, a in enumerate(actions)]
    return _decide_round(view, decided, {})


def approve_path(
    view: RunSnapshot,
    leave_out: Annotated[Sequence[str], Field(description="ids of the pages to leave out")] = (),
    ask_again: Annotated[bool, Field(description="ask at the next path, too; else run to the end")] = True,
) -> PersonStep:
    """Approve the path of a collection that is shown, without some of its pages."""
    state = view.state
    left = [
        state.own.tree[name].replace(status="dropped", ended="Left out by you.")
        for name in leave_out
        if name in state.own.tree
    ]
    auto = {} if ask_again else {"settings": state.settings.replace(mode="auto")}
    return PersonStep({"pending": None, "tree": left, **auto}, "decide", GO_ON, name="approve")


def edit(
    bench: ActionContext,
    run_id: str,
    head: int | None,
    next_action: Annotated[
        str, Field(description="search_ENGINE, crawl_url, or send_to_hitl: write the answer instead")
    ],
    query_or_url: Annotated[str, Field(description="the words to search for, or the address to read")] = "",
    index: Index = 0,
) -> int:
    """Run another action, query or address instead of a pending one. Writing the answer instead drops the
    whole round."""

    def build_step(view: RunSnapshot) -> PersonStep:
        actions, world = _get_pending(view, index), view.run.settings.world
        text = (
            complete_typed_url(query_or_url.strip()) if next_action == "crawl_url" else query_or_url.strip()
        )
        engines = bench.worker.world(world).engines
        validation.check_action(
            next_action, text, policy.available_actions(view.state, engines, utc_timestamp())
        )
        pending = actions[index]
        reasoning = pending.reasoning
        if (next_action, text) != (pending.next_action, pending.query_or_url):
            proposed = describe_action(pending.next_action, world)
            reasoning = f"changed by a person (proposed: {proposed} {pending.query_or_url})"
        changed = Proposal(
            next_action=next_action,
            query_or_url=text,
            part=pending.part,
            reasoning=reasoning,
            by="person",
            approved=True,
        )
        both = [*actions[:index], changed, *actions[index + 1 :]]
        return _decide_round(view, [changed] if next_action == "send_to_hitl" else both, {})

    return commit(bench, run_id, "edit", build_step, head=head)


def skip(view: RunSnapshot, index: OneOrAll = None) -> PersonStep:
    """Skip the pending round, or one action of it: the next decision must be another."""
    actions = _get_pending(view, index)
    refusals = [
        Refusal(what=a.query_or_url or a.next_action, why="skipped by a person", step=view.head + 1)
        for n, a in enumerate(actions)
        if index in (None, n)
    ]
    left = [a for n, a in enumerate(actions) if index not in (None, n)]
    return _decide_round(view, left, {"refusals": refusals})


def answer(
    view: RunSnapshot, index: Index, text: Annotated[str, Field(description="the answer")]
) -> PersonStep:
    """Answer a question that the round puts to the person: a note for the decisions to come."""
    actions = _get_pending(view, index)
    asked = actions[index]
    if asked.next_action != "ask" or not text.strip():
        raise UsageError("choose a reading, or write one: the run goes on with it")
    note = Note(step=view.head + 1, text=f"{asked.query_or_url} {text.strip()}", kind="steer")
    left = [a for n, a in enumerate(actions) if n != index]
    return replace(_decide_round(view, left, {"notes": [note]}), name="steer")


def _decide_round(view: RunSnapshot, actions: Sequence[Proposal], change: Change) -> PersonStep:
    """The step of a person who decided on actions of the pending round: it waits on while one is open, runs
    when all are approved, and is decided anew when none is left."""
    flow = FLOWS[view.run.settings.flow]
    if not actions:
        return PersonStep(*flow.reenter(change), GO_ON)
    if not all(action.approved for action in actions):
        return PersonStep({**change, "pending": Proposal.join(actions)})
    ready = Proposal.join([action.replace(approved=False) for action in actions])
    return PersonStep({**change, "pending": ready}, flow.find_approved_step(actions[0]), GO_ON)


def _get_pending(view: RunSnapshot, index: int | None) -> Sequence[Proposal]:
    """The actions of the pending round, if `index` names one or is None. Raises NotFound, UsageError."""
    if view.state.pending is None:
        raise NotFound("no action waits for approval")
    actions = view.state.pending.actions
    if index is not None and not 0 <= index < len(actions):
        raise UsageError(f"the round has no action {index + 1}: it has {len(actions)}")
    return actions


def steer(view: RunSnapshot, note: NoteText, private: Private = False) -> PersonStep:
    """Give guidance that the run's next decision follows; where it asks something, this is the answer."""
    text, flow = note.strip(), FLOWS[view.run.settings.flow]
    if not text:
        raise UsageError("the note is empty: say what the run should do")
    is_waiting = view.run.status is Status.WAITING
    if is_waiting and "decide" not in flow.steps:
        return replace(respond(view, text), name="respond")
    change: Change = {"notes": [Note(step=view.head + 1, text=text, kind="steer", private=private)]}
    if is_waiting:  # the pending action was proposed without the note
        again = "plan" if view.next == CHECK_PLAN else "decide"
        return PersonStep({**change, "pending": None}, again, GO_ON)
    if flow.is_ending(view.next):  # it was decided without the note, too
        return PersonStep(*flow.reenter(change))
    return PersonStep(change)


def respond(view: RunSnapshot, text: Annotated[str, Field(description="the answer")]) -> PersonStep:
    """Answer the clarifying question of a chat."""
    return PersonStep(dialogue.build_clarification_change(view.state, text), "retrieve", GO_ON)


def leave(view: RunSnapshot) -> PersonStep:
    """End a chat that waits for an answer, because the person went on with another question."""
    return PersonStep({"control": "left"}, "end", {"status": Status.DONE})


def pause(view: RunSnapshot) -> PersonStep:
    """Finish the current step, then rest."""
    return PersonStep({"control": "paused"}, columns={"control": "pause"})


def stop(view: RunSnapshot) -> PersonStep:
    """Stop at once; a fetch or model call under way is abandoned."""
    is_running = view.run.status is Status.RUNNING
    columns = {"control": "stop"} if is_running else {"status": Status.STOPPED, "control": ""}
    return PersonStep({"control": "stopped"}, columns=columns)


def resume(view: RunSnapshot) -> PersonStep:
    """Go on where the run rested."""
    status = FLOWS[view.run.settings.flow].rest_statuses.get(view.next, Status.RUNNING)
    return PersonStep({"control": "resumed", "halt": None}, columns={**RECOVER, "status": status})


def finish(view: RunSnapshot) -> PersonStep:
    """Write the answer now, from what was found so far."""
    halt, why = view.state.halt, "a person asked for the answer from what was found so far"
    reason = {"why_stopped": why, "stop_reason": "asked"}
    if view.run.status is Status.PAUSED and halt and halt.kind not in ("conflict", "model"):
        reason = {"why_stopped": halt.why, "stop_reason": "budget"}
    change = {**reason, "pending": None, "halt": None}
    return PersonStep(change, FLOWS[view.run.settings.flow].write_up_step, RECOVER)


def leave_out(view: RunSnapshot) -> PersonStep:
    """Leave out the sources that a note rules out, although most facts are theirs."""
    decided = view.state.readings[-1].replace(waits=False, step=view.head + 1)
    return PersonStep({"readings": [decided], "halt": None}, "revise", GO_ON)


def keep_sources(view: RunSnapshot) -> PersonStep:
    """Keep the sources that a note was read to rule out, and follow the rest of the note."""
    step = leave_out(view)
    [kept] = step.change["readings"]
    return replace(step, change={**step.change, "readings": [kept.replace(excluded_sites=[])]})


def accept(view: RunSnapshot) -> PersonStep:
    """Accept the answer: the run is done."""
    return PersonStep({"control": "accepted"}, "done", {"status": Status.DONE, "control": ""})


def send_back(view: RunSnapshot, note: NoteText, private: Private = False) -> PersonStep:
    """Send the answer back: the run goes on with the note and all it has learnt."""
    if not note.strip():
        raise UsageError("say in the note what is wrong or missing, so that the run can do better")
    return _reenter_with(view, Note(step=view.head + 1, text=note.strip(), kind="send_back", private=private))


def comment(
    view: RunSnapshot,
    target: Annotated[str, Field(description="the sentence (s3) or section (h2) of the answer")],
    text: Annotated[str, Field(description="what it lacks, e.g. “source?”")],
    private: Private = False,
) -> PersonStep:
    """Comment on one sentence or section of the newest answer: a round for it begins, the rest stays."""
    if not text.strip():
        raise UsageError("the comment is empty: say what the sentence lacks, for example “source?”")
    quoted = describe_target(view.state.answers[-1], target)
    if not quoted:
        count = len(view.state.answers[-1].sentences)
        raise UsageError(f"the answer has no sentence {target}: they are s1 to s{count}, headings h1 …")
    note = Note(step=view.head + 1, text=text.strip(), kind="comment", about=target, quoted=quoted)
    return _reenter_with(view, note.replace(private=private))


def _reenter_with(view: RunSnapshot, note: Note) -> PersonStep:
    """The step of a run that goes on with a note on its answer."""
    return PersonStep(*FLOWS[view.run.settings.flow].reenter({"notes": [note]}), GO_ON)


def reopen(view: RunSnapshot) -> PersonStep:
    """Open an accepted answer again for review: it can be sent back, commented on and edited as before."""
    return PersonStep({"control": "reopened"}, "review", {"status": Status.REVIEW, "control": ""})


def overrule(
    view: RunSnapshot,
    sentence: Annotated[str, Field(description="the id of the sentence")],
    mark: ClaimMark,
    reason: Annotated[str, Field(description="why; it is shown beside the mark")],
) -> PersonStep:
    """Set the mark of a sentence of a checked text."""
    if not reason.strip():
        raise UsageError("say why: the reason is shown beside your mark")
    checked = view.state.own.checked_text(view.state)
    if checked is None or all(one.sentence.id != sentence for one in checked.sentences):
        raise NotFound(f"there is no sentence {clip(sentence)} in the text of this run")
    why = reason.strip()[:MAX_REASON_CHARS]
    said = Overruling(id=sentence, mark=mark, reason=why, step=view.head + 1)
    return PersonStep({"overrulings": [said]})
