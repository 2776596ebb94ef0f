"""Any flow as a compiled LangGraph graph, for those who run, stream and draw with LangGraph's tools. Optional
(`contrib/langgraph/requirements.txt`); nothing else here imports it.

    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    config = {"configurable": {"thread_id": "tickets"}}
    graph.invoke({"question": "What does a ticket cost?"}, config)

The nodes take the steps of our own flow, and the ledger records them, each exactly once; the graph's state is
a view of what the ledger holds. Where a person is needed the graph interrupts, and what is passed to
`Command(resume=...)` is what the person does."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Annotated, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.channels import EphemeralValue
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from agent.actions import acts
from agent.engine.loop import Flow, take_steps
from agent.engine.run_state import ReadText, RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import to_jsonable
from agent.engine.worker import FOLLOW_POLL_S
from agent.errors import NotFound, TouchstoneError, UsageError
from agent.flows import FLOWS
from agent.types import Settings, Status, Turn
from agent.workbench import Workbench

MAX_THREAD_ID_CHARS = 32
"""Characters of a thread's id in the store."""
MAX_NODES = 10_000
"""Nodes of one invocation for LangGraph; a flow's own limits end a run long before."""
VIEW_FIELDS = ("run_id", "thread_id", "status", "next", "head", "user_question")
"""What the view holds beside the state of the run: which run, where it is, and what was asked."""
PAUSED = "paused"
DERIVED_FIELDS = ("facts", "conflicts", "confidence", "plan_parts")
"""Fields of a state that are derived, and may move whatever a step changed."""


def build_graph(
    bench: Workbench,
    flow: str = "research",
    *,
    settings: Settings | None = None,
    checkpointer: BaseCheckpointSaver[str] | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph of a flow: its steps as nodes, its edges with their labels; `thread_id` in LangGraph's
    configuration is the thread of the runs.

    Without a checkpointer LangGraph keeps its view in memory: what lasts is in the ledger. A flow that is
    never resumed (`reply`) is compiled without one."""
    table = FLOWS[flow]
    walker = _Walker(bench, table, (settings or Settings()).replace(flow=flow))
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(_make_schema(table))
    for name in dict.fromkeys(edge.start for edge in table.edges):
        graph.add_node(name, walker.make_node(name), destinations=_list_destinations(table, name))
    graph.add_edge(START, table.first_step)
    saver = None if table.is_one_shot else checkpointer or InMemorySaver()
    compiled: CompiledStateGraph[Any, Any, Any, Any] = graph.compile(checkpointer=saver, name=flow)
    return compiled.with_config(recursion_limit=MAX_NODES)


def _make_schema(flow: Flow) -> type:
    """The channels: the question, given anew for each run, and the fields of the view."""
    channels: dict[str, Any] = dict.fromkeys([*VIEW_FIELDS, *_dump_state(flow.fold_steps([]))], Any)
    channels["question"] = Annotated[str, EphemeralValue]
    return cast("type", TypedDict(f"{flow.name}_view", channels, total=False))  # type: ignore[operator,misc]


def _dump_state(
    state: RunState, fields: set[str] | None = None, read_text: ReadText = lambda _id: ""
) -> dict[str, Any]:
    """The fields of a state as JSON, all or those in `fields`, and its seed's under their own names."""
    shared = state.model_dump(mode="json", include=fields, exclude={"own", "question"})
    own = state.own.model_dump(mode="json", include=fields)
    seed: dict[str, Any] = {}
    for part in state.own.export_extra(state, read_text).values():
        seed |= part
    return {**shared, **own, **to_jsonable(seed)}


def _list_destinations(flow: Flow, name: str) -> dict[str, str]:
    """Where a node leads, each with the labels of the edges that go there."""
    found: dict[str, list[str]] = {}
    for edge in flow.edges:
        if edge.start == name:
            is_end = flow.rest_statuses.get(edge.end) is Status.DONE
            found.setdefault(END if is_end else edge.end, []).append(edge.label)
    return {end: " / ".join(filter(None, labels)) for end, labels in found.items()}


class _Walker:
    """Takes the steps of one flow's runs, and waits where a person is needed. Shared by all threads."""

    def __init__(self, bench: Workbench, flow: Flow, settings: Settings) -> None:
        self.bench, self.flow, self.settings = bench, flow, settings
        self._walks: dict[str, Generator[None, None, None]] = {}
        """The runs under way: each holds its lease from step to step."""

    def make_node(self, name: str) -> Callable[..., Command[str]]:
        """The node of a step, or of a rest with edges of its own. It may be repeated: what the ledger holds
        already is not done again."""

        def take(state: dict[str, Any], config: RunnableConfig) -> Command[str]:
            run_id = self._find_run(state, config)
            view = self.bench.snapshot(run_id)
            if waits_for := _find_wait(view):
                self._ask_person(view, waits_for)
            elif view.run.status is Status.FAILED:
                self.bench.act(run_id, "resume")
            if view.next == name:
                self._take_step(self.bench.snapshot(run_id))
            return self._go_on(name, state, self.bench.snapshot(run_id))

        return take

    def _find_run(self, state: dict[str, Any], config: RunnableConfig) -> str:
        """The run of the thread; the question of this invocation starts one, unless it did before a crash."""
        thread_id = "" if self.flow.is_one_shot else str(config["configurable"].get("thread_id", ""))
        if len(thread_id) > MAX_THREAD_ID_CHARS:
            raise UsageError(f"a thread_id has at most {MAX_THREAD_ID_CHARS} characters: shorten {thread_id}")
        question, known = state.get("question", ""), state.get("run_id", "")
        runs = self.bench.thread(thread_id) if thread_id else []
        if not question:
            if not known and not runs:
                raise UsageError('this thread has no run yet: invoke the graph with {"question": "..."}')
            return str(known or runs[-1])
        if not runs:
            history = [Turn.model_validate(turn) for turn in state.get("history") or []]
            settings = self.settings.replace(thread_id=thread_id)
            unstored = self.flow.is_one_shot and not settings.reply.store_conversations
            return self.bench.start(question, settings, history=history, unstored=unstored)
        newest = self.bench.snapshot(runs[-1]).run
        is_same = newest.id != known and newest.question == question.strip()
        if is_same or newest.status in (Status.WAITING, Status.PAUSED):
            return newest.id
        return self.bench.follow_up(newest.id, question, self.settings)

    def _take_step(self, before: RunSnapshot) -> None:
        """Take the next step of a running run, or wait for the one that another worker takes."""
        run_id, worker = before.run.id, self.bench.worker
        store = self.bench.store_of(run_id)
        ledger = store.ledger
        while ledger.get(run_id).status is Status.RUNNING and ledger.position(run_id)[0] == before.head:
            walk = self._walks.pop(run_id, None) or take_steps(
                run_id,
                flows=worker.flows,
                store=store,
                owner=worker.owner,
                equip=lambda run, lease: replace(worker.build_context(run, lease), store=store),
            )
            is_taken = next(walk, self) is None
            if is_taken and ledger.get(run_id).status is Status.RUNNING:
                self._walks[run_id] = walk
            else:
                walk.close()
            if not is_taken and ledger.get(run_id).status is Status.RUNNING:
                time.sleep(FOLLOW_POLL_S)

    def _ask_person(self, view: RunSnapshot, waits_for: str) -> None:
        """Interrupt until a person decided something that is possible where the run waits."""
        refused = ""
        while True:
            given = interrupt({**_describe_wait(view, waits_for), "refused": refused})
            try:
                return self._act_for_person(view, waits_for, given)
            except (UsageError, NotFound) as error:
                refused = str(error)

    def _act_for_person(self, view: RunSnapshot, waits_for: str, given: Any) -> None:
        """Do an act: its name, or {"action": its name, ...} with its parameters; a text answers a clarifying
        question. Raises UsageError, NotFound, ConcurrentChange as the workbench."""
        if isinstance(given, str):
            given = {"action": "respond", "text": given} if waits_for == "respond" else {"action": given}
        allowed = _list_actions(view)
        if not isinstance(given, dict) or given.get("action") not in allowed:
            raise UsageError(f"{given!r:.80} is not possible now; choose one of {', '.join(allowed)}")
        parameters = {name: value for name, value in given.items() if name != "action"}
        self.bench.act(view.run.id, given["action"], view.head, **parameters)

    def _go_on(self, name: str, state: dict[str, Any], view: RunSnapshot) -> Command[str]:
        """What changed in the view since it was last given, and the node where the run is now. Raises
        TouchstoneError for a run that failed; a flow that is never resumed ends instead."""
        run = view.run
        if run.status is Status.FAILED and not self.flow.is_one_shot:
            raise TouchstoneError(f"the run {run.id} failed: {run.error}")
        seen = state.get("head", -1) if state.get("run_id") == run.id else -1
        changed = {key.removeprefix("-") for step in view.steps if step.n > seen for key in step.change}
        changed.update(DERIVED_FIELDS)
        update = {
            **_dump_state(view.state, None if seen < 0 else changed, self.bench.store.pages.read_text),
            "run_id": run.id,
            "thread_id": run.settings.thread_id or run.id,
            "status": run.status.value,
            "next": view.next,
            "head": view.head,
            "user_question": run.question,
        }
        if run.status in (Status.DONE, Status.STOPPED, Status.FAILED):
            if self.bench.store_of(run.id) is not self.bench.store:
                self.bench.end_unstored_run(run.id, hold=True)
            return Command(update=update, goto=END)
        is_node = any(edge.start == view.next for edge in self.flow.edges)
        return Command(update=update, goto=view.next if is_node else name)


def _find_wait(view: RunSnapshot) -> str:
    """What a run waits for: "respond", "approve", "review", "paused", "" when it waits for nothing."""
    if view.run.status is Status.PAUSED:
        return PAUSED
    return view.next if view.run.status in (Status.WAITING, Status.REVIEW) else ""


def _list_actions(view: RunSnapshot) -> list[str]:
    """The acts that are possible with a run now."""
    return [act.name for act in acts.list_possible(view)]


def _describe_wait(view: RunSnapshot, waits_for: str) -> dict[str, Any]:
    """What an interrupt shows: where the run is, what can be done, and what there is to decide on."""
    state, answer = view.state, view.state.answer
    return {
        "run_id": view.run.id,
        "waits_for": waits_for,
        "actions": _list_actions(view),
        "proposal": state.pending.model_dump(mode="json") if state.pending else None,
        "pause": state.halt.model_dump(mode="json") if state.halt else None,
        "text": (answer.text or answer.certainty) if answer else "",
    }
