"""The facade that the screens, the command line and the evaluation use: start a run, read it, control it.

What a person does becomes a step of the run (agent.actions); a run is read as a RunSnapshot. Its only state
is a cache of snapshots. Flows, acts and exports are imported when they are first needed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.accounts.quotas import RequestRates
from agent.actions import acts, validation
from agent.actions.commit import commit
from agent.engine.context import WorkLimits
from agent.engine.run_settings import continue_settings, normalize_settings
from agent.engine.snapshots import RunSnapshot, SnapshotCache
from agent.engine.state import Change, to_jsonable
from agent.engine.worker import Worker
from agent.errors import ConcurrentChange, ModelUnavailable, NotFound, StoreError, UsageError
from agent.flows import FLOWS, STEP_LABELS
from agent.flows.chat import dialogue
from agent.llm import detect
from agent.settings import config as configuration
from agent.settings.config import is_personal
from agent.store.bodies import Bodies
from agent.store.database import PURGE_DUE, Store, UnstoredRuns
from agent.store.ledger import utc_timestamp
from agent.types import FolderImportResult, ModelCall, Outcome, Page, Run, Settings, Status, Step, Turn
from agent.web.parser_pool import ParserLimits, shared_pool

__all__ = ["WORLD_LABELS", "ActiveConfiguration", "RunSnapshot", "Workbench"]
CHECKS_A_MINUTE = 10
WORLD_LABELS = {"live": "The web", "demo": "The demo world (invented pages)"}
"""The worlds that can be searched, by name."""


SOUGHT = detect.DetectedModel(None, "Looking for the model: its server has not answered yet.")


@dataclass(frozen=True)
class ActiveConfiguration:
    """The active configuration, for the Settings screen, without secrets. A model that is still looked for
    counts as one: a run that starts now waits for it."""

    model: str
    model_detail: str
    embedding_detail: str
    engines: dict[str, str]


class Workbench:
    """Runs, and everything a person does with them."""

    def __init__(
        self,
        config: configuration.Config | None = None,
        *,
        store: Store | None = None,
        limits: WorkLimits | None = None,
    ) -> None:
        self.config = config or configuration.read_config()
        self.config.saved.check_readable()
        self.config.saved.seal()
        shared_pool.limits = ParserLimits(self.config.PARSER_TIMEOUT, self.config.PARSER_MAX_MB)
        owner = self.config.data_folder.name if is_personal(self.config) else "server"
        self.store = store or Store(self.config.database_url, Bodies(self.config.BODIES_URL, owner))
        if self.store.draft(PURGE_DUE):
            with suppress(StoreError):
                self.store.purge()
        self.worker = Worker(self.config, self.store, FLOWS, limits)
        self.library = self.worker.library
        self.unstored = UnstoredRuns()
        self.snapshots = SnapshotCache(self.store_of, FLOWS, STEP_LABELS)
        private_of = lambda run_id: acts.load("follow_up.keep_private")([self.snapshot(run_id)])  # noqa: E731
        self.worker.scheduler.keep_private = private_of
        self._checks = RequestRates(CHECKS_A_MINUTE)

    def start_workers(self) -> None:
        """Start working in the background, on unfinished runs too."""
        self.worker.start(self.worker.limits.max_runs or self.config.WORKERS)

    def shutdown(self) -> None:
        """Stop working and close the store; the runs go on when it is next opened."""
        self.snapshots.close()
        self.worker.stop()
        self.unstored.close()
        self.store.close()

    def store_of(self, run_id: str) -> Store:
        """The store of a run: that of the workbench, or the memory that an unstored run lives in."""
        return self.unstored.get(run_id) or self.store

    def end_unstored_run(self, run_id: str, *, hold: bool) -> None:
        """An unstored run has ended: hold it for a while for who looks at it, or forget it."""
        self.snapshots.forget(self.unstored.end(run_id, hold=hold))

    def start(
        self,
        question: str,
        settings: Settings | None = None,
        *,
        history: Sequence[Turn] = (),
        known: Change | None = None,
        unstored: bool = False,
    ) -> str:
        """A new run for a question, after the earlier turns of its conversation, with what is `known` of
        them; returns its id. An `unstored` run lives in memory only, and whoever drives it ends it. Raises
        UsageError for a question or setting that is not valid."""
        settings, question = normalize_settings(settings or Settings()), question.strip()
        settings, history = dialogue.apply_chat_settings(settings, history, self.config)
        validation.check_new_run(question, settings)
        validation.check_engines(settings.engines, self.worker.world(settings.world))
        settings = settings.replace(model=self.worker.choose_model(settings, "" if history else question))
        settings = settings.replace(served_by=self.worker.mark_model(settings))
        flow = FLOWS[settings.flow]
        turns = {"history": list(history)} if history else {}
        change = to_jsonable({"question": question, "settings": settings, **turns, **(known or {})})
        first = Step(n=0, name="ask", change=change, next=flow.first_step, by="person")
        with self.worker.limits.admit_start(self.store):
            if unstored:
                return self.unstored.create(question, settings, first)
            return self.store.ledger.create(question, settings, first)

    def check_quota(self) -> None:
        """Raise UsageError when the person's quota allows no further run now."""
        with self.worker.limits.admit_start(self.store):
            pass

    def follow_up(self, run_id: str, question: str, settings: Settings | None = None) -> str:
        """A further question in the conversation of a run, with its settings and what was set in `settings`
        in their place; returns the id."""
        carry_over = acts.load("follow_up.carry_over")
        thread = self.store.ledger.thread_run_ids(run_id)
        if not thread:
            raise NotFound(f"there is no run {run_id}")
        views = [self.snapshot(earlier) for earlier in thread]
        flow = views[-1].run.settings.flow
        settings = continue_settings(views[-1].run.settings, settings)
        if settings.flow != flow:
            raise UsageError(
                f"run {run_id} is a {flow} run; a {settings.flow} question can only follow one of its own "
                "kind"
            )
        turns = [
            *views[0].state.history,
            *(dialogue.build_turn(earlier.run, earlier.state.answer) for earlier in views),
        ]
        chosen = settings.replace(thread_id=views[0].run.settings.thread_id or thread[0])
        return self.start(question, chosen, history=turns, known=carry_over(views, question.strip()))

    def send_chat_message(self, run_id: str, text: str, settings: Settings | None = None) -> str:
        """Continue a chat: pick an answer to what its run asks, or say something else, of which the router of
        the next turn decides what it is; returns the run that takes it."""
        view = self.snapshot(run_id)
        if view.run.status is not Status.WAITING:
            return self.follow_up(run_id, text, settings)
        if dialogue.picks_choice(view.state, text):
            self.act(run_id, "respond", view.head, text=text)
            return run_id
        new = self.follow_up(run_id, text, settings)
        with suppress(ConcurrentChange):  # another tab answered at this moment: both messages are kept
            commit(self, run_id, "leave", acts.load("run_control.leave"), head=view.head)
        return new

    def thread(self, run_id: str) -> list[str]:
        """The runs of the conversation a run belongs to, oldest first."""
        return self.store_of(run_id).ledger.thread_run_ids(run_id)

    def drive(self, run_id: str, watch: Callable[[], None] | None = None) -> Status:
        """Drive a run in this thread until it rests; `watch` is called after each step."""
        return self.worker.drive(run_id, watch)

    def snapshot(self, run_id: str) -> RunSnapshot:
        """The run as it is now; cheap when it has not moved. Raises NotFound."""
        return self.snapshots.get(run_id)

    def runs(self, **wanted: Any) -> list[Run]:
        """Runs, newest first: see `Ledger.list`."""
        return self.store.ledger.list(**wanted)

    def delete(self, run_id: str) -> None:
        """Move a run to the bin; it stops working first."""
        self.store.ledger.position(run_id)
        self.store.ledger.update_run(run_id, deleted_at=utc_timestamp(), control="stop")

    def restore(self, run_id: str) -> None:
        """Restore a run from the bin."""
        self.store.ledger.position(run_id)
        self.store.ledger.update_run(run_id, deleted_at="", control="")

    def act(self, run_id: str, name: str, head: int | None = None, /, **given: Any) -> int | str:
        """Do an act of `agent.actions.acts.ACTS` with its parameters, on the run as it was at step `head` if
        that is given; returns the number of the recorded step, or the id of a new run. Raises NotFound,
        UsageError, and ConcurrentChange when it is not possible now or the run moved since."""
        return acts.perform(self, run_id, name, head, given)

    def new_since(self, run_id: str, since: str = "") -> Any:
        """What is new in a run since another, else since the last of its schedule: see
        `agent.actions.new_since`."""
        return acts.load("new_since.find_new")(self, run_id, since)

    def page(self, page_id: str) -> Page:
        """A stored page, or one that an unstored run read. Raises NotFound."""
        for store in self.unstored.stores():
            with suppress(NotFound):
                return store.pages.get(page_id)
        return self.store.pages.get(page_id)

    def calls(self, run_id: str) -> list[ModelCall]:
        """Every model call of a run with its prompt and reply."""
        return self.store_of(run_id).calls.list_for_run(run_id)

    def as_json(self, run_id: str) -> dict[str, Any]:
        """The run, an unstored one too, as the object that `--json` writes."""
        bench = copy.copy(self)
        bench.store = self.store_of(run_id)
        record: dict[str, Any] = acts.load("export.build_record")(bench, run_id)
        return record

    def save_site(self, name: str, settings: Settings) -> None:
        """Save sites under a name, in place of others of that name. Raises UsageError."""
        if not name.strip() or len(name) > 80:
            raise UsageError("give the saved site a name of at most 80 characters")
        settings = normalize_settings(settings)
        validation.check_start_pages(settings)
        self.store.saved_sites.put(name.strip(), settings.replace(thread_id=""))

    def add_folder(self, folder: str, tags: Sequence[str] = ()) -> FolderImportResult:
        """Add a folder of this computer to the library. Raises UsageError for who does not run it."""
        if is_personal(self.config):
            raise UsageError("only whoever runs this server adds folders of it: drop the documents instead")
        return self.library.add_folder(Path(folder).expanduser(), tags=tags)

    def active_configuration(self) -> ActiveConfiguration:
        """The model, engines and settings in use."""
        live, found = self.worker.world("live"), self.worker.model_search.peek() or SOUGHT
        client = found.client
        named = client.strong if client else "the model being looked for" if found is SOUGHT else ""
        return ActiveConfiguration(named, found.detail, self.worker.embedder_detail, live.engines)

    def is_model_sought(self) -> bool:
        """Whether the model server has not told its models yet."""
        return self.worker.model_search.peek() is None

    def explain_other_model(self, settings: Settings) -> str:
        """That what goes on from a run uses another model or server than it did, in a sentence; "" if not."""
        is_same = settings.served_by in ("", self.worker.mark_model(settings))
        if settings.model == "keyless" or is_same or self.is_model_sought():
            return ""
        now = self.worker.name_model(settings) or f"no model. {self.active_configuration().model_detail}"
        return f"This run used another model or server. Set up now: {now.rstrip('.')}."

    def check_model(self) -> tuple[bool, str]:
        """Detect the model again and ask it for one word."""
        if wait := self._checks.take(""):
            return False, f"It was checked {CHECKS_A_MINUTE} times within a minute: wait {wait} s."
        found = self.worker.model_search.find(again=True)
        if found.client is None:
            return False, found.detail
        found.client.breaker.ask_at_once()
        return self.worker.check_model(found.client)

    def find_faults(self) -> list[str]:
        """What keeps runs from working: a store that cannot be written, ended workers; in sentences."""
        try:
            self.store.check_writable()
        except StoreError as error:
            return [str(error), *self.worker.find_faults()]
        return self.worker.find_faults()

    def check_embedder(self) -> tuple[bool, str]:
        """Ask the embedding model for the vector of one word."""
        index = self.library.vector_index
        if index.embedder is None:
            return False, index.unavailable_reason
        try:
            vectors = index.embedder.embed(["touchstone"], query=True)
        except ModelUnavailable as error:
            return False, str(error)
        return True, f"{index.embedder.name} answered with {len(vectors[0])} numbers."

    def check_engine(self, name: str) -> tuple[bool, str]:
        """One cheap search of the web with an engine."""
        opened = self.worker.world("live")
        if name not in opened.engines:
            return False, opened.absent.get(name, f"there is no engine {name}")
        result = opened.check(name)
        return result.outcome is Outcome.OK, result.detail or f"{len(result.hits)} results: it works"
