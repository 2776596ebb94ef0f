"""The one door for every surface: screens, command line and evaluation ask and tell the workbench, and
nothing else.

It turns what a person does into steps of the run, checks it first (UsageError and its kin say what to do
instead), and gives a run back as a `View`. It holds no state of its own but a cache of folded states
(agent.engine.snapshots)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agent import config as configuration
from agent.actions import conflict_changes, validation
from agent.engine.run_settings import normalize_settings
from agent.engine.snapshots import RunSnapshot, SnapshotCache
from agent.engine.state import to_jsonable
from agent.engine.worker import Worker
from agent.errors import ConcurrentChange, NotFound, UsageError
from agent.export.markdown import render_markdown
from agent.export.record import build_run_record
from agent.export.report import Report
from agent.flows import FLOWS
from agent.flows.chat import dialogue
from agent.flows.research import policy
from agent.flows.shared.budget_meters import measure_budgets
from agent.llm import detect
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.text.urls import complete_typed_url
from agent.types import (
    STATUS_PHRASES,
    ModelCall,
    Note,
    Outcome,
    Page,
    Proposal,
    Refusal,
    Run,
    Settings,
    Status,
    Step,
    Turn,
)

__all__ = ["ActiveConfiguration", "RunSnapshot", "Workbench"]
WORLD_LABELS = {"live": "The web", "demo": "The demo world (invented pages)"}
STEP_BY_ACTION = {
    "search_duckduckgo": "search",
    "search_google": "search",
    "crawl_url": "crawl",
    "send_to_hitl": "report",
}


@dataclass(frozen=True)
class ActiveConfiguration:
    """What is in use, for the Settings screen. Never a secret."""

    model: str
    model_detail: str
    fast_model: str
    engines: dict[str, str]
    absent: dict[str, str]
    worlds: dict[str, str]
    data: str
    values: list[tuple[str, str, str]]
    """Every setting: name, value (a secret's is only told to be set or not), help."""


class Workbench:
    """Runs, and everything a person may do with them."""

    def __init__(self, config: configuration.Config | None = None, *, store: Store | None = None) -> None:
        self.config = config or configuration.read_config()
        self.store = store or Store(self.config.database_url)
        self.worker = Worker(self.config, self.store, FLOWS)
        self.library = self.worker.library
        self.snapshots = SnapshotCache(self.store)

    def start_workers(self) -> None:
        """Begin to work in the background, and take up what was left unfinished."""
        self.worker.start(max(1, self.config.WORKERS))

    def shutdown(self) -> None:
        """Let every run rest where it stands and close the store."""
        self.snapshots.close()
        self.worker.stop()
        self.store.close()

    # --- runs
    # -----------------------------------------------------------------------------------------------------------

    def start(self, question: str, settings: Settings | None = None, *, history: Sequence[Turn] = ()) -> str:
        """A new run for a question, after the earlier turns of its conversation; returns its id.

        Raises UsageError when the question or a setting cannot be.
        """
        settings, question = normalize_settings(settings or Settings()), question.strip()
        settings, history = dialogue.apply_conversational_mode(settings, history, self.config)
        validation.check_new_run(question, settings, FLOWS)
        validation.check_engines(
            settings.engines, self.worker.world(settings.world)
        )  # NotFound, with a hint, before anything is written
        flow = FLOWS[settings.flow]
        change = to_jsonable(
            {"question": question, "settings": settings, **({"history": list(history)} if history else {})}
        )
        run_id = self.store.ledger.create(
            question, settings, Step(n=0, name="ask", change=change, next=flow.first_step, by="person")
        )
        self.worker.schedule(run_id)
        return run_id

    def follow_up(self, run_id: str, question: str, settings: Settings | None = None) -> str:
        """A further question in the conversation of a run, with all its turns and its settings (or others);
        returns the new run's id."""
        thread = self.store.ledger.thread_run_ids(run_id)
        if not thread:
            raise NotFound(f"there is no run {run_id}")
        views = [self.snapshot(earlier) for earlier in thread]
        flow = dialogue.conversation_kind(views[-1].run.settings.flow)
        if settings and dialogue.conversation_kind(settings.flow) != flow:
            raise UsageError(
                f"run {run_id} is of the kind {flow}; a {settings.flow} question can only follow one of its own kind"
            )
        turns = [
            *views[0].state.history,
            *(dialogue.build_turn(earlier.run, earlier.state.answer) for earlier in views),
        ]
        chosen = (settings or views[-1].run.settings).model_copy(
            update={"thread_id": thread[0], "flow": flow}
        )
        return self.start(question, chosen, history=turns)

    def send_chat_message(self, run_id: str, text: str, settings: Settings | None = None) -> str:
        """Go on with a chat: the answer to what its run asks back, or else a further turn; returns the run
        that takes it."""
        view = self.snapshot(run_id)
        if view.run.status is not Status.WAITING:
            return self.follow_up(run_id, text, settings)
        if dialogue.is_clarification_answer(view.state, text):
            self.respond(run_id, view.head, text)
            return run_id
        new = self.follow_up(run_id, text, settings)
        with suppress(
            ConcurrentChange
        ):  # another tab answered at this very moment: its answer stands, and so does this turn
            self.store.ledger.append_person_step(
                run_id,
                "leave",
                {"control": "left"},
                next="end",
                head=view.head,
                among=(Status.WAITING,),
                status=Status.DONE,
            )
        return new

    def thread(self, run_id: str) -> list[str]:
        """The runs of the conversation a run belongs to, oldest first."""
        return self.store.ledger.thread_run_ids(run_id)

    def drive(self, run_id: str, watch: Callable[[], None] | None = None) -> Status:
        """Drive a run in this thread until it rests (command line, evaluation); `watch` is called after each
        step."""
        return self.worker.drive(run_id, watch)

    def snapshot(self, run_id: str) -> RunSnapshot:
        """The run as it stands. Cheap when nothing happened since the last look. Raises NotFound."""
        return self.snapshots.get(run_id)

    def runs(self, *, status: str | None = None, text: str = "", deleted: bool = False) -> list[Run]:
        """Runs, newest first; `deleted` gives the bin."""
        return self.store.ledger.list(status=status, text=text, deleted=deleted)

    def delete(self, run_id: str) -> None:
        """Put a run into the bin; it stops working first."""
        self.store.ledger.position(run_id)
        self.store.ledger.update_run(run_id, deleted_at=utc_timestamp(), control="stop")

    def restore(self, run_id: str) -> None:
        """Take a run out of the bin."""
        self.store.ledger.position(run_id)
        self.store.ledger.update_run(run_id, deleted_at="", control="")

    # --- what a person says
    # ---------------------------------------------------------------------------------------------

    def approve(self, run_id: str, head: int) -> None:
        """Let the waiting decision run as it is. Raises Overtaken when the run moved since step `head`."""
        pending = self._get_pending_decision(run_id)
        self._append_and_continue(run_id, "approve", {}, STEP_BY_ACTION[pending.next_action], head)

    def edit(self, run_id: str, head: int, action: str, query_or_url: str) -> None:
        """Run another action or wording instead of the waiting decision."""
        pending, text = self._get_pending_decision(run_id), query_or_url.strip()
        text = complete_typed_url(text) if action == "crawl_url" else text
        view = self.snapshot(run_id)
        engines = self.worker.world(view.run.settings.world).engines
        validation.check_action(action, text, policy.available_actions(view.state, engines, utc_timestamp()))
        same = (action, text) == (pending.next_action, pending.query_or_url)
        reasoning = (
            pending.reasoning
            if same
            else f"changed by a person (proposed was: {pending.next_action} {pending.query_or_url})"
        )
        changed = Proposal(next_action=action, query_or_url=text, reasoning=reasoning, by="person")  # type: ignore[arg-type]
        self._append_and_continue(run_id, "edit", {"pending": changed}, STEP_BY_ACTION[action], head)

    def skip(self, run_id: str, head: int) -> None:
        """Do not do it: the next decision must be another."""
        pending = self._get_pending_decision(run_id)
        refusal = Refusal(
            what=pending.query_or_url or pending.next_action, why="skipped by a person", step=head + 1
        )
        change = {"pending": None, "why_stopped": "", "stop_reason": "", "refusals": [refusal]}
        self._append_and_continue(run_id, "skip", change, "decide", head)

    def steer(self, run_id: str, note: str) -> None:
        """Give the run a word that its next decision obeys."""
        run, text = self.store.ledger.get(run_id), note.strip()
        if not text:
            raise UsageError("the note is empty: say what the run should heed")
        if run.status in (Status.DONE, Status.REVIEW):
            raise UsageError("the run has ended its work: send the answer back with your note instead")
        head, upcoming, _ = self.store.ledger.position(run_id)
        change, flow = {"notes": [Note(step=head + 1, text=text)]}, FLOWS[run.settings.flow]
        if (
            run.status is Status.WAITING and "decide" not in flow.steps
        ):  # it asks something: this is the answer
            self.respond(run_id, head, text)
            return
        if run.status is Status.WAITING:  # the proposal was made without the note: decide anew
            self._append_and_continue(run_id, "steer", {**change, "pending": None}, "decide", head)
            return
        told = {Status.RUNNING, Status.PAUSED, Status.STOPPED, Status.FAILED}
        if (
            upcoming == flow.write_up_step or upcoming in flow.rest_statuses
        ):  # what comes next was decided without the note, too
            anew = {**change, "pending": None, "why_stopped": "", "stop_reason": ""}
            self.store.ledger.append_person_step(
                run_id, "steer", to_jsonable(anew), next=flow.reentry_step, head=head, among=told
            )
        else:
            self.store.ledger.append_person_step(run_id, "steer", to_jsonable(change), among=told)

    def respond(self, run_id: str, head: int, text: str) -> None:
        """Answer what a chat asks back. Raises Overtaken when the run moved since step `head` or asks
        nothing, UsageError."""
        self._require_status(run_id, "answer", Status.WAITING)
        self._append_and_continue(
            run_id,
            "respond",
            dialogue.build_clarification_change(self.snapshot(run_id).state, text),
            "retrieve",
            head,
        )

    def pause(self, run_id: str) -> None:
        """Let the step at work end, then rest."""
        self.store.ledger.append_person_step(
            run_id, "pause", {"control": "paused"}, among=(Status.RUNNING,), control="pause"
        )
        self.worker.schedule(run_id)

    def stop(self, run_id: str) -> None:
        """Stop at once: a page or model that is waited for is let go."""
        resting = self.store.ledger.get(run_id).status is not Status.RUNNING
        among = (Status.PAUSED, Status.WAITING) if resting else (Status.RUNNING,)
        values: dict[str, Any] = {"status": Status.STOPPED, "control": ""} if resting else {"control": "stop"}
        self.store.ledger.append_person_step(run_id, "stop", {"control": "stopped"}, among=among, **values)
        self.worker.schedule(run_id)

    def resume(self, run_id: str) -> None:
        """Go on where it stood."""
        run, (head, upcoming, _) = self.store.ledger.get(run_id), self.store.ledger.position(run_id)
        status, among = (
            FLOWS[run.settings.flow].rest_statuses.get(upcoming, Status.RUNNING),
            (Status.PAUSED, Status.STOPPED, Status.FAILED, Status.RUNNING),
        )
        self.store.ledger.append_person_step(
            run_id,
            "resume",
            {"control": "resumed", "halt": None},
            head=head,
            among=among,
            status=status,
            control="",
            error="",
        )
        self.worker.schedule(run_id)

    def finish(self, run_id: str) -> None:
        """Write the answer now, from what was found so far."""
        among = (Status.RUNNING, Status.PAUSED, Status.STOPPED, Status.WAITING, Status.FAILED)
        change = {
            "why_stopped": "a person asked for the answer from what was found so far",
            "stop_reason": "asked",
            "pending": None,
            "halt": None,
        }
        closing = FLOWS[self.store.ledger.get(run_id).settings.flow].write_up_step
        self.store.ledger.append_person_step(
            run_id, "finish", change, next=closing, among=among, status=Status.RUNNING, control="", error=""
        )
        self.worker.schedule(run_id)

    def accept(self, run_id: str, head: int) -> None:
        """The answer is good: the run is complete."""
        self._require_status(run_id, "accept", Status.REVIEW)
        self.store.ledger.append_person_step(
            run_id, "accept", {"control": "accepted"}, next="done", head=head, status=Status.DONE, control=""
        )

    def send_back(self, run_id: str, head: int, note: str) -> None:
        """The answer is not good enough: the same run goes on, with the note as a constraint and everything
        learnt."""
        self._require_status(run_id, "send back", Status.REVIEW)
        if not note.strip():
            raise UsageError("say in the note what is wrong or missing, so that the run can do better")
        change = {
            "notes": [Note(step=head + 1, text=note.strip(), kind="send_back")],
            "why_stopped": "",
            "stop_reason": "",
            "pending": None,
        }
        self._append_and_continue(
            run_id, "send_back", change, FLOWS[self.store.ledger.get(run_id).settings.flow].reentry_step, head
        )

    # --- pages, calls, exports
    # ------------------------------------------------------------------------------------------

    def page(self, page_id: str) -> Page:
        """A stored page as it was read. Raises NotFound."""
        return self.store.pages.get(page_id)

    def calls(self, run_id: str) -> list[ModelCall]:
        """Every model call of a run with its prompt and reply."""
        return self.store.calls.list_for_run(run_id)

    def report(self, run_id: str) -> Report:
        """Everything an export needs."""
        view = self.snapshot(run_id)
        state = view.state
        return Report(
            run=view.run,
            settings=view.run.settings,
            answer=state.answer,
            former_answers=state.answers[:-1],
            notes=state.notes,
            facts=list(state.facts.values()),
            conflicts=conflict_changes.active_conflicts(state),
            confidence=state.confidence,
            actions=state.actions,
            pages=list(state.pages.values()),
            refusals=state.refusals,
            blockages=state.blockages,
            usage=view.usage,
            steps=view.steps,
            edits=state.edits,
            struck_sources=state.struck_sources,
            trust_ratings=list(state.trusts.values()),
        )

    def markdown(self, run_id: str) -> str:
        """The run as a Markdown report."""
        return render_markdown(self.report(run_id))

    def as_json(self, run_id: str) -> dict[str, Any]:
        """The run as the object that `--json` writes."""
        view = self.snapshot(run_id)
        state, used = (
            view.state,
            measure_budgets(
                self.store.calls, FLOWS[view.run.settings.flow], view.run, view.state, view.steps
            ),
        )
        extra: dict[str, Any] = state.own.export_extra(state)
        budget = {"budget": [meter.model_dump() for meter in used]}
        return build_run_record(self.report(run_id)) | extra | budget

    # --- desks
    # ----------------------------------------------------------------------------------------------------------

    def saved_sites(self) -> dict[str, Settings]:
        """The sites kept under a name, by name: what a question to each is asked with."""
        return self.store.saved_sites.all()

    def save_site(self, name: str, settings: Settings) -> None:
        """Keep sites under a name; a desk of that name is replaced. Raises UsageError."""
        if not name.strip() or len(name) > 80:
            raise UsageError("give the desk a name of at most 80 characters")
        settings = normalize_settings(settings)
        validation.check_start_pages(settings)
        self.store.saved_sites.put(name.strip(), settings.model_copy(update={"thread_id": ""}))

    def delete_saved_site(self, name: str) -> None:
        """Forget a desk; its conversations stay."""
        self.store.saved_sites.drop(name)

    # --- what is there
    # --------------------------------------------------------------------------------------------------

    def draft(self, key: str, text: str | None = None) -> str:
        """What was typed and not sent yet under `key`; with `text`, keep that."""
        return self.store.draft(key, text)

    def worlds(self) -> dict[str, str]:
        """The worlds one can ask, by name."""
        return dict(WORLD_LABELS)

    def is_online(self) -> bool:
        """Is there a network? Looked up at each call, within a second or so."""
        return self.worker.world("live").is_reachable()

    def active_configuration(self) -> ActiveConfiguration:
        """What is in use."""
        live, found = self.worker.world("live"), self.worker.detect_model()
        client = found.client
        values = [
            (
                name,
                ("set" if value else "not set")
                if name in configuration.SECRETS
                else _without_password(configuration.format_value(value)),
                str(configuration.SETTINGS[name].description),
            )
            for name, value in self.config
        ]
        return ActiveConfiguration(
            model=client.strong if client else "",
            fast_model=client.fast if client else "",
            model_detail=found.detail,
            engines=live.engines,
            absent=live.absent,
            worlds=self.worlds(),
            data=str(self.config.data_folder),
            values=values,
        )

    def check_model(self) -> tuple[bool, str]:
        """Look for the model again and ask it for one word."""
        found = self.worker.detect_model(again=True)
        return detect.check_model(found.client) if found.client else (False, found.detail)

    def check_engine(self, name: str, world: str = "live") -> tuple[bool, str]:
        """One cheap search with an engine."""
        opened = self.worker.world(world)
        if name not in opened.engines:
            return False, opened.absent.get(name, f"there is no engine {name}")
        result = opened.check(name)
        return result.outcome is Outcome.OK, result.detail or f"{len(result.hits)} results: it works"

    # ------------------------------------------------------------------------------------------------------------------

    def _require_status(self, run_id: str, what: str, *statuses: Status) -> None:
        run = self.store.ledger.get(run_id)
        if run.status not in statuses:
            raise ConcurrentChange(f"to {what} is not possible now: the run is {STATUS_PHRASES[run.status]}")

    def _get_pending_decision(self, run_id: str) -> Proposal:
        self._require_status(run_id, "decide", Status.WAITING)
        pending = self.snapshot(run_id).state.pending
        if pending is None:
            raise NotFound("no decision waits here")
        return pending

    def _append_and_continue(
        self, run_id: str, name: str, change: dict[str, Any], next: str, head: int
    ) -> None:
        self.store.ledger.append_person_step(
            run_id, name, to_jsonable(change), next=next, head=head, status=Status.RUNNING, control=""
        )
        self.worker.schedule(run_id)


def _without_password(value: str) -> str:
    scheme, mark, rest = value.partition("://")
    return f"{scheme}://…@{rest.rpartition('@')[2]}" if mark and "@" in rest else value
