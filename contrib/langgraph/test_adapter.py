"""The flows as LangGraph graphs: the same runs as by our loop, field by field; interrupts; exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip(
    "langgraph", reason="LangGraph is optional: pip install -r contrib/langgraph/requirements.txt"
)

from langgraph.graph import END, START
from langgraph.types import Command

from agent.errors import TouchstoneError, UsageError
from agent.flows import FLOWS
from agent.llm.detect import DetectedModel
from agent.settings.config import ROOT
from agent.types import Settings, Status
from agent.workbench import Workbench
from contrib.langgraph.adapter import VIEW_FIELDS, _dump_state, build_graph
from tests.web import chatting_model, replying_model
from tests.web.collecting_model import install_walker
from tests.web.reply_runs import ASKED as REPLY_ASKED
from tests.web.reply_runs import KEPT, NIGHT
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

Config = dict[str, Any]
CHAT_FIELDS = (
    "messages original_query rewritten_query retrieved_docs doc_relevance_scores draft_answer final_answer "
    "sources route_decision retry_count needs_clarification confidence"
).split()
REPLY_FIELDS = "gating selection loaded draft verification should_reply reply_text silence left_out".split()


@pytest.fixture
def bench() -> Iterator[Workbench]:
    opened = Workbench()
    yield opened
    opened.shutdown()


def _on(thread: str) -> Config:
    return {"configurable": {"thread_id": thread}}


def _path(bench: Workbench, run_id: str) -> list[str]:
    view = bench.snapshot(run_id)
    return [step.name for step in view.steps] + [view.next]


def _view_of(values: dict[str, Any]) -> dict[str, Any]:
    """A view without what tells two runs apart: ids of run and thread, place, settings."""
    own = {*VIEW_FIELDS, "question", "settings"}
    return {name: value for name, value in values.items() if name not in own}


@pytest.mark.parametrize("flow", sorted(FLOWS))
def test_the_graph_has_the_steps_and_edges_of_the_flow(bench: Workbench, flow: str) -> None:
    table, graph = FLOWS[flow], build_graph(bench, flow).get_graph()
    ends = {rest for rest, status in table.rest_statuses.items() if status is Status.DONE}
    assert set(graph.nodes) == {START, END} | {edge.start for edge in table.edges}
    drawn = {(edge.source, edge.target): edge.data or "" for edge in graph.edges}
    expected: dict[tuple[str, str], list[str]] = {(START, table.first_step): []}
    for edge in table.edges:
        label = (
            "" if edge.label == edge.end else edge.label
        )  # LangGraph leaves out a label that names the node
        expected.setdefault((edge.start, END if edge.end in ends else edge.end), []).append(label)
    assert drawn == {way: " / ".join(filter(None, labels)) for way, labels in expected.items()}


Make = Callable[[], chatting_model.Script]
CHATS: dict[str, Make] = {
    "found at once": lambda: chatting_model.Script(),
    "rewritten first": lambda: chatting_model.Script(router="REWRITE_THEN_RETRIEVE"),
    "searched three times, with a caveat": lambda: chatting_model.Script(grade=[[0.9]]),
    "not grounded, then grounded": lambda: chatting_model.Script(validate=[False, True]),
    "places": lambda: chatting_model.Script(router="LOCATION_SEARCH"),
}


@pytest.mark.parametrize("case", CHATS)
def test_a_chat_run_by_langgraph_equals_one_run_by_our_loop(bench: Workbench, case: str) -> None:
    chatting_model.stocked(bench)
    make = CHATS[case]
    settings, asked = Settings(flow="chat", model="auto"), chatting_model.ASKED
    chatting_model.given(bench, ours := make())
    run_id = bench.start(asked, settings)
    bench.drive(run_id)
    chatting_model.given(bench, theirs := make())
    values = build_graph(bench, "chat", settings=settings).invoke({"question": asked}, _on("tickets"))
    assert values["run_id"] != run_id and values["thread_id"] == "tickets" and values["status"] == "done"
    assert _path(bench, values["run_id"]) == _path(bench, run_id)
    assert theirs.roles == ours.roles, "the same roles are asked, in the same order"
    state = bench.snapshot(run_id).state
    seed = state.own.export_extra(state, bench.store.pages.read_text)["chat"]
    assert set(seed) == set(CHAT_FIELDS)
    assert {name: values[name] for name in CHAT_FIELDS} == seed
    assert _view_of(values) == _view_of(_dump_state(state, None, bench.store.pages.read_text))


@pytest.mark.parametrize("shown", [NIGHT, KEPT])
@pytest.mark.parametrize("verify", [None, True, False], ids=["not verified", "approved", "rejected"])
def test_a_reply_run_by_langgraph_equals_one_run_by_our_loop(
    bench: Workbench, verify: bool | None, shown: tuple[str, str]
) -> None:
    replying_model.stocked(bench)
    base = Settings(flow="reply", model="auto")
    settings = base.replace(reply=base.reply.replace(enable_verification=verify is not None))

    def script() -> None:
        model = ScriptedModel(replying_model.Script(write=[shown], verify=bool(verify)))
        bench.worker._reply_model = type("Fixed", (), {"client": lambda *_: (model, "")})()  # type: ignore[assignment]

    script()
    run_id = bench.start(REPLY_ASKED, settings)
    bench.drive(run_id)
    script()
    graph = build_graph(bench, "reply", settings=settings)
    values = graph.invoke({"question": REPLY_ASKED})
    assert _path(bench, values["run_id"]) == _path(bench, run_id)
    own = bench.snapshot(run_id).state.own.model_dump(mode="json")
    assert {name: values[name] for name in REPLY_FIELDS} == {name: own[name] for name in REPLY_FIELDS}
    assert _view_of(values) == _view_of(_dump_state(bench.snapshot(run_id).state))
    assert values["should_reply"] is (verify is not False)
    assert graph.checkpointer is None, "as in the seed, nothing is kept between requests"
    again = graph.invoke({"question": REPLY_ASKED})
    assert again["run_id"] != values["run_id"], "each request is a run of its own"
    assert [run.id for run in bench.runs()] == [run_id], "and nothing of it is stored"
    keeping = settings.replace(reply=settings.reply.replace(store_conversations=True))
    kept = build_graph(bench, "reply", settings=keeping).invoke({"question": REPLY_ASKED})
    assert [run.id for run in bench.runs()] == [kept["run_id"], run_id], "unless the setting says so"


def test_a_reply_that_fails_is_silence_and_no_error(bench: Workbench) -> None:
    replying_model.stocked(bench)
    bench.worker._reply_model = type("Broken", (), {"client": lambda *_: 1 / 0})()  # type: ignore[assignment]
    values = build_graph(bench, "reply", settings=Settings(flow="reply")).invoke({"question": REPLY_ASKED})
    assert (values["status"], values["should_reply"], values["reply_text"]) == ("failed", False, "")


def test_a_clarifying_question_interrupts_and_its_answer_resumes(bench: Workbench) -> None:
    chatting_model.stocked(bench)
    chatting_model.given(bench, chatting_model.Script(router="ASK_CLARIFICATION"))
    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    values = graph.invoke({"question": "What does it cost?"}, _on("t"))
    (wait,) = values["__interrupt__"]
    assert wait.value["waits_for"] == "respond" and wait.value["text"] == values["needs_clarification"]
    assert graph.get_state(_on("t")).next == ("clarify",), (
        "it waits in the node that asks, as the seed draws it"
    )
    done = graph.invoke(Command(resume="the ferry"), _on("t"))
    assert done["status"] == "done" and done["run_id"] == values["run_id"]
    assert (
        _path(bench, done["run_id"])[1:]
        == "router clarify respond retrieve grade generate validate end".split()
    )
    assert [m["content"] for m in done["messages"] if m["role"] == "user"] == [
        "What does it cost?",
        "the ferry",
    ]


def test_each_question_of_a_thread_is_a_run_that_knows_the_ones_before(bench: Workbench) -> None:
    chatting_model.stocked(bench)
    chatting_model.given(bench, chatting_model.Script(router=["RETRIEVE", "DIRECT_ANSWER"]))
    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    first = graph.invoke({"question": chatting_model.ASKED}, _on("talk"))
    second = graph.invoke({"question": "Say that again, please."}, _on("talk"))
    assert bench.thread("talk") == [first["run_id"], second["run_id"]]
    assert second["route_decision"] == "DIRECT_ANSWER" and second["final_answer"] == first["final_answer"]
    assert second["retrieved_docs"] == [], "nothing of the former run is left in the view"
    assert bench.thread(bench.follow_up(second["run_id"], "And now?")) == bench.thread("talk")


def test_streaming_gives_one_update_a_step(bench: Workbench) -> None:
    chatting_model.stocked(bench)
    chatting_model.given(bench, chatting_model.Script())
    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    updates = list(graph.stream({"question": chatting_model.ASKED}, _on("s"), stream_mode="updates"))
    assert [
        name for update in updates for name in update
    ] == "router retrieve grade generate validate".split()
    assert set(updates[1]["retrieve"]) < set(updates[0]["router"]), "later steps give what changed"


def test_it_runs_in_an_event_loop_too(bench: Workbench) -> None:
    chatting_model.stocked(bench)
    chatting_model.given(bench, chatting_model.Script())
    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    values = asyncio.run(graph.ainvoke({"question": chatting_model.ASKED}, _on("a")))
    assert values["status"] == "done" and values["final_answer"]


def test_a_review_is_sent_back_and_accepted(bench: Workbench) -> None:
    settings = Settings(flow="research", world="demo", model="keyless", max_steps=2)
    graph = build_graph(bench, "research", settings=settings)
    values = graph.invoke({"question": "When did the Stenfors bridge reopen to traffic?"}, _on("r"))
    assert values["__interrupt__"][0].value["actions"][:2] == ["accept", "send_back"]
    assert values["next"] == "review"
    refused = graph.invoke(Command(resume="applaud"), _on("r"))["__interrupt__"][0].value["refused"]
    assert "choose one of accept, send_back" in refused
    again = graph.invoke(
        Command(resume={"action": "send_back", "note": "name the day", "private": True}), _on("r")
    )
    assert (
        again["__interrupt__"] and again["notes"][-1]["text"] == "name the day" and len(again["answers"]) == 2
    )
    done = graph.invoke(Command(resume="accept"), _on("r"))
    assert done["status"] == "done" and bench.snapshot(done["run_id"]).run.status is Status.DONE


def test_step_by_step_each_action_is_approved_edited_or_skipped(bench: Workbench) -> None:
    settings = Settings(flow="research", world="demo", model="keyless", mode="step")
    graph = build_graph(bench, "research", settings=settings)
    values = graph.invoke({"question": "When did the Stenfors bridge reopen to traffic?"}, _on("p"))
    (wait,) = values["__interrupt__"]
    assert wait.value["waits_for"] == "approve" and wait.value["proposal"]["next_action"].startswith(
        "search_"
    )
    edit = {"action": "edit", "next_action": "search_duckduckgo", "query_or_url": "Stenfors bridge"}
    values = graph.invoke(Command(resume=edit), _on("p"))
    assert values["actions"][0]["query_or_url"] == "Stenfors bridge" and values["__interrupt__"]
    values = graph.invoke(Command(resume="skip"), _on("p"))
    assert values["refusals"][-1]["why"].startswith("skipped")
    values = graph.invoke(Command(resume="finish"), _on("p"))
    assert values["next"] == "review" and values["answers"]


def test_a_path_of_collect_is_approved(bench: Workbench) -> None:
    start = "https://borskvart.example/stock/KALL"
    install_walker(bench, topic="Kallsteg", section="forum", days=30)
    settings = Settings(flow="collect", world="demo", mode="step", start_urls=[start])
    graph = build_graph(bench, "collect", settings=settings)
    values = graph.invoke({"question": "What do members say about Kallsteg?"}, _on("c"))
    assert values["__interrupt__"][0].value["waits_for"] == "approve" and values["shown"]
    values = graph.invoke(Command(resume="approve_path"), _on("c"))
    assert values["actions"] and values["__interrupt__"]


def test_a_pause_at_a_budget_interrupts_and_is_resumed(bench: Workbench) -> None:
    settings = Settings(flow="research", world="demo", model="keyless", max_steps=1, at_cap="ask")
    graph = build_graph(bench, "research", settings=settings)
    values = graph.invoke({"question": "Who lit the lighthouse of Nowhere in 1700?"}, _on("b"))
    (wait,) = values["__interrupt__"]
    assert wait.value["waits_for"] == "paused" and wait.value["pause"]["kind"] == "steps"
    done = graph.invoke(Command(resume="finish"), _on("b"))
    assert done["next"] == "review"


def test_what_our_loop_did_meanwhile_is_not_done_again(bench: Workbench) -> None:
    chatting_model.stocked(bench)
    chatting_model.given(bench, script := chatting_model.Script())
    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    stream = graph.stream({"question": chatting_model.ASKED}, _on("k"), stream_mode="updates")
    run_id = next(stream)["router"]["run_id"]
    stream.close()  # as if the process had been killed between two nodes
    bench.drive(run_id)
    before = bench.snapshot(run_id).steps
    values = graph.invoke(None, _on("k"))
    assert values["status"] == "done" and bench.snapshot(run_id).steps == before
    assert len(script.of("generate")) == 1, "no model call is made twice"


def test_a_new_process_goes_on_with_the_run_of_its_thread(bench: Workbench) -> None:
    chatting_model.stocked(bench)
    chatting_model.given(bench, chatting_model.Script())
    settings = Settings(flow="chat")
    stream = build_graph(bench, "chat", settings=settings).stream(
        {"question": chatting_model.ASKED}, _on("n"), stream_mode="updates"
    )
    run_id = next(stream)["router"]["run_id"]
    stream.close()
    values = build_graph(bench, "chat", settings=settings).invoke(
        {"question": chatting_model.ASKED}, _on("n")
    )
    assert values["run_id"] == run_id and values["status"] == "done" and bench.thread("n") == [run_id]


def test_a_run_that_fails_is_an_error_and_is_tried_again_when_invoked_again(bench: Workbench) -> None:
    chatting_model.stocked(bench)
    bench.worker.model_search.found = DetectedModel(ScriptedModel(lambda *_: 1 / 0), "")  # type: ignore[arg-type, return-value]
    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    with pytest.raises(TouchstoneError, match="ZeroDivisionError"):
        graph.invoke({"question": chatting_model.ASKED}, _on("f"))
    chatting_model.given(bench, chatting_model.Script())
    assert graph.invoke(None, _on("f"))["status"] == "done"


def test_a_thread_without_a_question_and_a_long_thread_id_are_refused(bench: Workbench) -> None:
    graph = build_graph(bench, "chat", settings=Settings(flow="chat"))
    with pytest.raises(UsageError, match="invoke the graph with"):
        graph.invoke({"user_question": "?"}, _on("empty"))
    with pytest.raises(UsageError, match="at most 32 characters"):
        graph.invoke({"question": "Who?"}, _on("x" * 33))


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "contrib" / "langgraph" / "README.md").read_text(encoding="utf-8")
    exec(page.split("```python\n")[1].split("```")[0], {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[:3] == ["['decide']", "['act']", "['analyze']"] and "['__interrupt__']" in printed
    assert any(line.startswith("['accept', 'send_back'") for line in printed) and any(
        line.startswith("done [{") for line in printed
    )
    assert "graph TD;" in printed


def test_nothing_else_imports_langgraph() -> None:
    naming = [
        path.name
        for path in (ROOT / "agent").rglob("*.py")
        if "langgraph" in path.read_text(encoding="utf-8")
    ]
    assert naming == []
