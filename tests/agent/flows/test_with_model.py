"""The research flow with a model behind a real server: what it says is used, checked, counted and paid for
once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agent import config
from agent.actions import budget, forks, run_diff
from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import export_run
from agent.llm.scripted import ScriptedModel
from agent.text.urls import canonicalize
from agent.types import Outcome, Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.folders import Told, page, write_world
from tests.web.model_server import ModelServer, Request, html, says, status

pytestmark = pytest.mark.slow

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
ROOF = "https://www.alvmora-mejeri.example/news/2026-05-solar-roof"
TOUR = "https://ostvandring.example/2026/07/cellar-tour"
QUOTE = "Since Monday there are 412 solar panels on the roof of Älvmora Mejeri."
INVENTED = "https://invented.example/page"
ASK = {
    "next_action": "search_duckduckgo",
    "query_or_url": "solar panels roof Älvmora Mejeri",
    "reasoning": "A first look.",
}
END = {"next_action": "send_to_hitl", "query_or_url": None, "reasoning": "It is answered."}
Told_ = dict[str, Any]


def crawl(url: str) -> Told_:
    return {"next_action": "crawl_url", "query_or_url": url, "reasoning": "It looks promising."}


def role_of(prompt: str) -> str:
    """Which role a prompt belongs to, by the schema that stands in it."""
    keys = {"report": '"key_sources"', "analyzer": '"new_potential_urls"', "decision": '"next_action"'}
    return next(role for role, key in keys.items() if key in prompt)


class Script:
    """A model that plays all three roles: `decisions` one after the other, then handing over; facts by
    `quotes`; a report of `sentences`."""

    def __init__(self, *decisions: Any, quotes: list[str] | None = None, **more: Any) -> None:
        self.decisions, self.quotes, self.more = list(decisions), [QUOTE] if quotes is None else quotes, more
        self.prompts: list[tuple[str, str]] = []

    def __call__(self, prompt: str) -> Any:
        role = role_of(prompt)
        self.prompts.append((role, prompt))
        if role in self.more and callable(self.more[role]):
            return self.more[role](prompt)
        return getattr(self, role)(prompt)

    def decision(self, _prompt: str) -> Any:
        return self.decisions.pop(0) if self.decisions else END

    def analyzer(self, prompt: str) -> Told_:
        about = {"passage_id": "p", "subject": "Älvmora Mejeri", "attribute": "solar panels"}
        facts = [{"statement": quote, "quote": quote, **about} for quote in self.quotes]
        return {
            "extracted_info": {"facts": facts, "leads": []}
            if "Passage" in prompt.split("Source of this step")[1]
            else "Only results.",
            "assessment": "Seen.",
            "confidence_score": self.more.get("confidence", 0.95),
            "suggestions_for_next_step": [],
            "new_potential_urls": self.more.get("urls", []),
            "inconsistencies_found": self.more.get("inconsistencies"),
        }

    def report(self, prompt: str) -> Told_:
        ids = re.findall(r"^- id (\w+)", prompt, re.MULTILINE)
        sentences = self.more.get("sentences", [("There are 412 solar panels on the roof.", None)])
        return {
            "answer": [
                {"text": text, "fact_ids": ids if cited is None else cited} for text, cited in sentences
            ],
            "certainty": "Sure.",
            "missing": "",
            "journey": "One search, one page.",
            "key_sources": ids,
        }

    def served(self, request: Request) -> Any:
        return self(request.prompt)

    def scripted(self, messages: list[dict[str, str]], _shape: Any) -> Any:
        return self("\n".join(message["content"] for message in messages))


@contextmanager
def workbench(server: ModelServer) -> Iterator[Workbench]:
    opened = Workbench(config.read_config({"OPENAI_BASE_URL": server.url, "MODEL": "served"}))
    try:
        yield opened
    finally:
        opened.shutdown()


def run(
    bench: Workbench, question: str = SOLAR, rests: Status = Status.REVIEW, **settings: Any
) -> RunSnapshot:
    run_id = bench.start(question, Settings(**{"world": "demo", **settings}))
    assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
    return bench.snapshot(run_id)


def driven(
    script: Callable[[Request], Any] | Script, question: str = SOLAR, **settings: Any
) -> tuple[RunSnapshot, ModelServer, list[Any]]:
    """A whole run with this model; the view, the server and the calls."""
    with (
        ModelServer(script.served if isinstance(script, Script) else script) as server,
        workbench(server) as bench,
    ):
        view = run(bench, question, **settings)
        return view, server, bench.calls(view.run.id)


def test_a_model_drives_the_run_from_question_to_answer():
    view, server, calls = driven(Script(ASK, crawl(ROOF)))
    state, answer = view.state, view.state.answer
    assert [(action.action, action.by) for action in state.actions] == [
        ("search_duckduckgo", "model"),
        ("crawl_url", "model"),
    ]
    [fact] = state.facts.values()
    assert (fact.by, fact.verified, fact.quote, fact.url) == ("model", True, QUOTE, ROOF)
    assert (answer.by, answer.verdict, answer.text) == (
        "model",
        "answered",
        "There are 412 solar panels on the roof.",
    )
    assert (answer.statements.backed, answer.statements.unsupported, answer.statements.dropped) == (1, 0, 0)
    assert [(source.url, source.quotes) for source in answer.sources] == [(ROOF, [QUOTE])]
    assert state.own.report["by"] == "model" and state.refusals == []
    assert len(calls) == len(server.requests) == view.usage.llm_calls == 6
    assert view.usage.prompt_tokens == 66 and view.usage.completion_tokens == 42


def test_every_call_can_be_read_afterwards():
    view, server, calls = driven(Script(ASK, crawl(ROOF)))
    assert [call.role for call in calls] == ["decision", "analyzer"] * 2 + ["decision", "report"]
    for call, request in zip(calls, server.requests, strict=True):
        assert call.prompt == request.body["messages"] and json.loads(call.reply) and not call.error
        assert (call.model, call.run_id, call.prompt_tokens, call.completion_tokens) == (
            "served",
            view.run.id,
            11,
            7,
        )
        assert next(step for step in view.steps if step.n == call.step).name in (
            "decide",
            "analyze",
            "report",
        )


def test_the_decision_is_offered_only_what_can_be_done():
    _, server, _ = driven(Script(ASK))
    offered = server.requests[0].prompt
    assert "search_duckduckgo" in offered and "search_google" not in offered, "the demo world has no Google"


def test_an_invented_quote_is_no_fact_and_supports_nothing():
    fake = "Since Monday there are 999 solar panels on the roof of Älvmora Mejeri."
    view, _, _ = driven(
        Script(ASK, crawl(ROOF), quotes=[fake, "A sentence that stands nowhere at all on that page."])
    )
    state = view.state
    assert [fact.verified for fact in state.facts.values()] == [False, False]
    assert state.answer.verdict == "no_evidence" and state.answer.sources == []
    assert all(action.new_facts == 0 for action in state.actions)


def test_an_unverified_fact_cannot_be_cited():
    fake = "Since Monday there are 999 solar panels on the roof of Älvmora Mejeri."
    script = Script(ASK, crawl(ROOF), quotes=[QUOTE, fake])
    script.more["report"] = lambda prompt: {
        **script.report(prompt),
        "answer": [{"text": "There are 412.", "fact_ids": known(prompt)}],
    }
    seen: list[str] = []

    def known(prompt: str) -> list[str]:
        seen.extend(re.findall(r"^- id (\w+)", prompt, re.MULTILINE))
        return seen

    view, _, _ = driven(script)
    [unverified] = [fact.id for fact in view.state.facts.values() if not fact.verified]
    assert unverified not in seen and "999" not in view.state.answer.text


def test_invented_fact_ids_are_dropped_and_counted():
    sentences = [
        ("There are 412 solar panels.", None),
        ("They are blue.", ["f0000000"]),
        ("They are new.", []),
    ]
    answer = driven(Script(ASK, crawl(ROOF), sentences=sentences))[0].state.answer
    assert [sentence.backed for sentence in answer.sentences] == [True, False, False]
    assert (answer.statements.backed, answer.statements.unsupported, answer.statements.dropped) == (1, 2, 1)
    assert all(
        fact_id in {i for source in answer.sources for i in source.fact_ids}
        for s in answer.sentences
        for fact_id in s.fact_ids
    )


def test_a_figure_that_the_cited_fact_does_not_hold_is_not_backed():
    answer = driven(Script(ASK, crawl(ROOF), sentences=[("There are 500 solar panels on the roof.", None)]))[
        0
    ].state.answer
    assert answer.verdict == "no_evidence"


def test_an_address_the_decision_invents_is_refused_counted_and_never_asked_for():
    with ModelServer(Script(ASK, crawl(INVENTED)).served) as server, workbench(server) as bench:
        world = Told(bench.worker.world("demo"))
        bench.worker.world = lambda name: world  # type: ignore[method-assign]
        view = run(bench)
    assert INVENTED not in world.asked
    refusal = next(refusal for refusal in view.state.refusals if refusal.what == INVENTED)
    assert "stands on no page" in refusal.why and refusal.step
    assert view.state.actions[1].by == "keyless", "code goes on with its own proposal"


@pytest.mark.parametrize("look", [[ASK], [ASK, crawl(ROOF)]], ids=["in results", "on a page"])
def test_an_address_the_analyzer_invents_is_refused_and_counted(look):
    state = driven(Script(*look, urls=[INVENTED, "not an address"]))[0].state
    assert [refusal.what for refusal in state.refusals].count(INVENTED) == len(look)
    assert canonicalize(INVENTED) not in {canonicalize(lead.value) for lead in state.own.leads.values()}


def test_a_repeated_action_of_the_model_is_refused():
    state = driven(Script(ASK, {**ASK, "query_or_url": "Roof solar panels, Älvmora Mejeri!"}, crawl(ROOF)))[
        0
    ].state
    assert any("same words" in refusal.why for refusal in state.refusals)
    assert sum(action.by == "model" and action.action == "search_duckduckgo" for action in state.actions) == 1


def test_a_link_the_analyzer_picked_from_the_page_can_be_followed(tmp_path):
    names = [f"https://h.example/{n}" for n in range(25)]
    pages = [
        page(url, f"Brass heron {n}", f"Sheet {n} speaks of the brass heron of Port Ember at length.")
        for n, url in enumerate(names)
    ]
    hub = page("https://hub.example/", "Hub", "A hub.", links=names)
    picked = names[22]
    script = Script(crawl("https://hub.example/"), crawl(picked), quotes=[], urls=[picked])
    state = driven(
        script, "Who made it, see https://hub.example/ ?", world=write_world(tmp_path, [hub, *pages])
    )[0].state
    assert picked in [action.query_or_url for action in state.actions if action.by == "model"], state.refusals


def failing(role: str, script: Script, reply: Any = "I would rather not say.") -> Callable[[Request], Any]:
    return lambda request: reply if role_of(request.prompt) == role else script.served(request)


@pytest.mark.parametrize(
    "reply",
    ["no JSON here", '{"next_action": "dance"}', says(""), html(), status(401, "no such key")],
    ids=str,
)
def test_a_decision_that_fails_twice_is_made_keyless_and_says_why(reply):
    view, _, calls = driven(failing("decision", Script(), reply))
    decided = [
        step.change["pending"] for step in view.steps if step.name == "decide" and step.change.get("pending")
    ]
    assert decided and all(pending["by"] == "keyless" and pending["trouble"] for pending in decided)
    assert {action.by for action in view.state.actions} == {"keyless"}
    assert view.state.answer.verdict in ("answered", "partial") and "412" in view.state.answer.text
    assert all(call.error for call in calls if call.role == "decision")


def test_an_analyzer_that_fails_twice_is_replaced_and_says_why():
    view, _, _ = driven(failing("analyzer", Script(ASK, crawl(ROOF))))
    assert view.state.own.report["by"] == "keyless" and view.state.own.report["trouble"]
    assert {fact.by for fact in view.state.facts.values()} == {"keyless"}
    assert view.state.answer.by == "model" and "412" in view.state.answer.text


def test_a_report_that_fails_twice_is_written_keyless_and_says_why():
    answer = driven(failing("report", Script(ASK, crawl(ROOF))))[0].state.answer
    assert answer.by == "keyless" and answer.trouble and "412" in answer.text


def test_a_wrong_reply_gets_one_repair():
    first = iter(["Well, let me think."])
    script = Script(crawl(ROOF))
    view, server, calls = driven(
        lambda request: next(first, None) or script.served(request), f"{SOLAR} See {ROOF}"
    )
    assert view.state.actions[0].by == "model"
    assert [(call.attempt, bool(call.error)) for call in calls[:2]] == [(1, True), (2, False)]
    assert "Well, let me think." in server.requests[1].prompt


@pytest.mark.parametrize(
    "dress", ["```json\n{}\n```", "<think>{{ hm }} next_action?</think>\n{}", "Here you are:\n{}\nGood luck!"]
)
def test_fences_thoughts_and_remarks_are_borne(dress):
    script = Script(ASK, crawl(ROOF))
    view, server, _ = driven(
        lambda request: (
            dress.replace("{{", "{").replace("}}", "}").replace("{}", json.dumps(script.served(request)))
        )
    )
    assert view.state.answer.by == "model" and view.state.answer.verdict == "answered"
    assert len(server.requests) == 6, "nothing had to be asked again"


def test_what_was_paid_for_before_a_crash_is_not_paid_again():
    class Crash(BaseException):
        pass

    with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
        run_id = bench.start(SOLAR, Settings(world="demo"))
        commit, crashes = bench.store.ledger.commit, []

        def crashing(lease: Any, step: Any, *more: Any) -> None:
            if step.name in ("decide", "analyze", "report") and step.n not in crashes:
                crashes.append(step.n)
                raise Crash
            commit(lease, step, *more)

        bench.store.ledger.commit = crashing  # type: ignore[method-assign]
        for _ in range(20):
            try:
                done = bench.drive(run_id)
                break
            except Crash:
                continue
        assert done is Status.REVIEW and len(crashes) == 6
        assert len(server.requests) == 6 == len(bench.calls(run_id))
        assert bench.snapshot(run_id).state.answer.by == "model"


@pytest.mark.parametrize("reply", [None, "not JSON"], ids=["good replies", "replies that need repair"])
@pytest.mark.parametrize("cap", [1, 2, 3, 5])
def test_the_budget_of_calls_is_never_overdrawn(cap, reply):
    script = Script(*[{**ASK, "query_or_url": f"dairy {n} solar"} for n in range(20)])
    view, server, calls = driven(script if reply is None else lambda request: reply, max_calls=cap)
    assert len(server.requests) == len(calls) <= cap
    assert view.state.stop_reason == "budget" and "model calls" in view.state.why_stopped
    assert view.state.answer.verdict in ("partial", "no_evidence")


def test_a_tenth_of_the_calls_is_kept_for_the_report():
    script = Script(*[{**ASK, "query_or_url": f"dairy {n} solar"} for n in range(20)])
    view, _, calls = driven(script, max_calls=10)
    assert calls[-1].role == "report" and view.state.answer.step == calls[-1].step


def test_a_spent_budget_does_not_forget_what_was_paid_before_a_crash():
    class Crash(BaseException):
        pass

    with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
        run_id = bench.start(SOLAR, Settings(world="demo", max_calls=1))
        commit = bench.store.ledger.commit

        def crash(*_: Any) -> None:
            raise Crash

        bench.store.ledger.commit = crash  # type: ignore[method-assign]
        with pytest.raises(Crash):
            bench.drive(run_id)
        bench.store.ledger.commit = commit  # type: ignore[method-assign]
        bench.drive(run_id)
        assert len(server.requests) == 1
        assert bench.snapshot(run_id).state.actions[0].by == "model", "the one call that was paid for is used"


def test_the_budget_of_tokens_is_kept():
    view, _, calls = driven(Script(ASK, crawl(ROOF)), max_tokens=40)
    assert view.state.stop_reason == "budget" and "tokens" in view.state.why_stopped
    assert sum(call.prompt_tokens + call.completion_tokens for call in calls) < 40 + 18


def test_the_budget_of_money_is_kept(bench):
    model = ScriptedModel(Script(ASK, crawl(ROOF)).scripted, strong="gpt-4o-mini")
    model.local = False
    bench.worker.model_client = lambda name, fast="": (model, "")
    view = run(bench, max_cost_usd=1e-9)
    assert view.usage.cost_usd and view.state.stop_reason == "budget" and "$" in view.state.why_stopped
    assert model.calls == 1


def test_the_models_confidence_can_only_lower_ours():
    own = driven(Script(ASK, crawl(ROOF), confidence=1.0))[0].state
    low = driven(Script(ASK, crawl(ROOF), confidence=0.1))[0].state
    assert own.current_confidence < 1.0 and own.confidence[-1].model == 1.0
    assert low.current_confidence == 0.1 and low.confidence[-1].model == 0.1
    assert any("model" in move.reason for move in low.confidence[-1].moves)


def test_an_inconsistency_told_in_words_makes_no_empty_sentence():
    script = Script(
        ASK,
        crawl(ROOF),
        quotes=["The sun pays for the cold"],
        inconsistencies="One page says so, another says not.",
        sentences=[("The sun pays for the cold.", None)],
    )
    state = driven(script)[0].state
    assert any(conflict.found_by == "model" for conflict in state.conflicts.values())
    assert not any(
        "disagree" in sentence.text and not sentence.fact_ids for sentence in state.answer.sentences
    )


def test_a_note_reaches_the_next_decision():
    with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
        view = run(bench, rests=Status.WAITING, mode="step")
        bench.steer(view.run.id, "Only trust the municipality.")
        bench.drive(view.run.id)
        assert "Only trust the municipality." not in server.requests[0].prompt
        assert "Only trust the municipality." in server.requests[1].prompt


def test_a_send_back_note_and_the_former_answer_reach_the_report():
    with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
        view = run(bench)
        bench.send_back(view.run.id, view.head, "Say since when.")
        bench.drive(view.run.id)
        assert (
            "Say since when." in server.requests[-1].prompt
            and "There are 412 solar panels on the roof." in server.requests[-1].prompt
        )
        assert bench.snapshot(view.run.id).state.answer.n == 2


def test_a_page_that_gives_orders_is_not_obeyed_even_by_a_model_that_would():
    """The blog orders its reader to open an address on a foreign host, and shows it as a link; the model does
    as it is told."""

    def obey(request: Request) -> Any:
        prompt, role = request.prompt, role_of(request.prompt)
        ordered = re.findall(r"https://collector\.example[^\s\"<]*", prompt)
        if role == "decision":
            return crawl(ordered[0].rstrip(".")) if ordered else script.decision(prompt)
        if role == "analyzer":
            return {
                **script.analyzer(prompt),
                "new_potential_urls": [url.rstrip(".") for url in ordered]
                + ["https://collector.example/log?visitor=agent"],
            }
        return script.report(prompt)

    script = Script(
        crawl(TOUR),
        crawl("https://collector.example/log?visitor=agent"),
        crawl("https://collector.example/"),
        quotes=[],
    )
    with ModelServer(obey) as server, workbench(server) as bench:
        world = Told(bench.worker.world("demo"))
        bench.worker.world = lambda name: world  # type: ignore[method-assign]
        view = run(bench, f"What does the cellar tour cost according to {TOUR}?")
    assert TOUR in world.asked
    assert not [asked for asked in world.asked if "collector.example" in asked and asked.startswith("http")]
    assert any("collector.example" in refusal.what for refusal in view.state.refusals), "refused and counted"


def test_a_model_that_is_asked_for_by_name_and_not_there_is_told(bench):
    view = run(bench, model="gpt-none")
    pending = next(step.change["pending"] for step in view.steps if step.name == "decide")
    assert pending["by"] == "keyless" and "gpt-none" in pending["trouble"]
    assert view.state.answer.verdict == "answered" or view.state.actions[0].outcome is Outcome.OK


def test_at_a_cap_on_calls_it_asks_and_a_raise_pays_for_no_call_twice():
    with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
        rests = run(bench, rests=Status.PAUSED, max_calls=3, at_cap="ask")
        assert (rests.state.halt.kind, rests.state.halt.used, rests.state.halt.cap) == ("calls", 2, 3)
        before = len(server.requests)
        budget.raise_caps(bench, rests.run.id, {"calls": 20}, rests.head)
        assert bench.drive(rests.run.id) is Status.REVIEW
        view = bench.snapshot(rests.run.id)
        assert (
            view.state.answer.verdict == "answered"
            and view.usage.llm_calls == len(server.requests) == 6
            and before == 2
        )
        new = forks.fork_run(bench, view.run.id, rests.head - 1)
        assert len(server.requests) == 6 and len(bench.calls(new)) == 2, (
            "what the prefix asked is not asked again"
        )
        found = run_diff.compare_runs(bench, view.run.id, new)
        assert {figure.name: figure.shared for figure in found.figures}["calls"] == 2
        assert verify_bundle(
            export_run(bench, new, "bundle") if bench.drive(new) is Status.REVIEW else b""
        ).is_valid


def test_the_tenth_that_is_kept_back_lets_the_model_write_the_answer():
    for cap in ({"max_calls": 5}, {"max_tokens": 80}):
        with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
            rests = run(bench, rests=Status.PAUSED, at_cap="ask", **cap)
            assert rests.state.halt.used < rests.state.halt.cap and rests.state.halt.kind == next(
                iter(cap)
            ).removeprefix("max_")
            budget.write_up(bench, rests.run.id, rests.head)
            assert (
                bench.drive(rests.run.id) is Status.REVIEW
                and bench.snapshot(rests.run.id).state.answer.by == "model"
            )


@pytest.mark.parametrize("how", ["a cap", "a stop"])
def test_a_step_that_was_let_go_in_the_middle_pays_for_no_call_twice(how):
    first, script = [{"next_action": "dance"}], Script(ASK, crawl(ROOF))
    asked: list[str] = []

    def served(request: Request) -> Any:
        asked.append(request.prompt)
        if how == "a stop" and len(asked) == 1:
            bench.stop(run_id)
        return first.pop() if first else script.served(request)

    with ModelServer(served) as server, workbench(server) as bench:
        caps = {"max_calls": 2, "at_cap": "ask"} if how == "a cap" else {}
        run_id = bench.start(SOLAR, Settings(world="demo", **caps))
        assert (
            bench.drive(run_id) in (Status.PAUSED, Status.STOPPED) and bench.snapshot(run_id).next == "decide"
        )
        budget.raise_caps(bench, run_id, {"calls": 30})
        if how == "a stop":
            bench.resume(run_id)
        assert (
            bench.drive(run_id) is Status.REVIEW and bench.snapshot(run_id).state.answer.verdict == "answered"
        )
        assert asked.count(asked[0]) == 1, "the reply that had to be repaired is known still"
        assert sum(call.prompt_tokens > 0 for call in bench.calls(run_id)) == len(asked)
