"""The site flow, keyless and with a scripted model: crawling in batches, limits, forced answers, follow-ups,
refusals, sitemaps, robots."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent import config
from agent.actions import budget, export, fact_edits, forks, page_input, source_strikes, trust
from agent.actions.bundle_verify import verify_bundle
from agent.actions.fact_edits import FactEdit
from agent.errors import UsageError
from agent.flows.site import steps
from agent.flows.site.flow import SITE
from agent.flows.site.links import shorten_url
from agent.flows.site.state import BY_PERSON, BY_SITEMAP, SiteRun
from agent.llm.scripted import ScriptedModel
from agent.types import Outcome, Settings, SiteLimits, Status, Turn
from agent.workbench import RunSnapshot, Workbench
from tests.web.folders import Told, page, write_world
from tests.web.site import Asked, Reply, html
from tests.web.site import Site as Server

START, RETURNS = "https://kallsteg.example/", "https://kallsteg.example/support/returns"
PLAIN = {"Content-Type": "text/plain"}
QUESTION = "How do I return a Kallsteg C2 logger?"


@pytest.fixture
def bench() -> Iterator[Workbench]:
    opened = Workbench(config.read_config({"FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"}))
    yield opened
    opened.shutdown()


@pytest.fixture
def ask(bench: Workbench) -> Callable[..., RunSnapshot]:
    def asked(
        question: str = QUESTION,
        *starts: str,
        follow: str = "",
        history: list[Turn] | None = None,
        **more: Any,
    ) -> RunSnapshot:
        settings = Settings(
            **{
                "flow": "site",
                "world": "demo",
                "model": "keyless",
                "start_urls": list(starts) or [START],
                **more,
            }
        )
        run_id = (
            bench.follow_up(follow, question)
            if follow
            else bench.start(question, settings, history=history or [])
        )
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    return asked


def scripted(bench: Workbench, monkeypatch: pytest.MonkeyPatch, teller: Any) -> ScriptedModel:
    model = ScriptedModel(teller)
    monkeypatch.setattr(bench.worker, "model_client", lambda name, fast="": (model, ""))
    return model


def garden(tmp_path: Any, count: int = 30) -> str:
    """A site of pages about beds of a garden, none of which says when the gate opens."""
    docs = [
        page(
            f"https://garden.example/beds/gate-{n}",
            f"Bed {n} beside the gate",
            f"In bed {n} there are {n} roses.",
        )
        for n in range(count)
    ]
    return write_world(tmp_path / "garden", docs)


def test_an_answer_in_two_batches_with_the_names_of_the_shared_store(ask):
    view = ask()
    state, answer = view.state, view.state.answer
    assert [step.name for step in view.steps] == [
        "ask",
        "recall",
        "survey",
        "crawl",
        "decide",
        "crawl",
        "decide",
        "draft",
    ]
    assert (
        answer.verdict == "answered"
        and "within 30 days" in answer.text
        and answer.statements.unsupported == 0
    )
    shared = state.own.export_extra(state)["site"]
    assert (
        shared["user_question"] == QUESTION
        and shared["current_iteration"] == 1
        and "30 days" in shared["final_answer"]
    )
    assert [state.own.all_discovered_urls[i] for i in state.own.visited_urls] == [START, RETURNS]
    assert state.own.visited_urls[1] in state.own.useful_visited_indices and state.own.decision_reasoning
    assert state.own.url_graph[0] and set(state.own.url_content(state)) == {0, state.own.visited_urls[1]}
    for source in answer.sources:
        assert all(
            quote in ask.__closure__[0].cell_contents.page(source.page_id).text for quote in source.quotes
        )
    assert SITE.fold_steps(view.steps) == state, "the state is the fold of the steps"


def test_the_limits_have_the_defaults_of_the_seed():
    assert SiteLimits().model_dump() == {
        "max_iterations": 5,
        "max_pages": 100,
        "content_max_chars": 10_000,
        "links_max_chars": 500,
        "url_truncation_buffer": 10,
        "max_links_per_page": 300,
        "max_urls_per_iteration": 5,
    }


def test_long_addresses_are_shortened_for_a_prompt_only():
    limits = SiteLimits(links_max_chars=40, url_truncation_buffer=10)
    url = "https://a.example/" + "x" * 60
    assert (
        shorten_url(url, limits) == url[:30] + "..."
        and shorten_url("https://a.example/", limits) == "https://a.example/"
    )


def test_at_the_limit_of_explorations_the_answer_is_forced_and_says_so(ask, tmp_path):
    view = ask(
        "When does the gate open?",
        "https://garden.example/",
        world=garden(tmp_path),
        site=SiteLimits(max_iterations=2, max_urls_per_iteration=3),
    )
    choices, answer = view.state.own.choices, view.state.answer
    assert [choice.decision for choice in choices] == ["explore", "explore", "answer"] and [
        len(c.selected) for c in choices
    ] == [3, 3, 0]
    assert choices[-1].by == "code" and "All 2 explorations" in choices[-1].forced
    assert (
        answer.verdict == "no_evidence"
        and "All 2 explorations" in answer.certainty
        and "All 2 explorations" in answer.why_stopped
    )


def test_no_more_pages_are_asked_for_than_allowed(ask, tmp_path):
    view = ask(
        "When does the gate open?",
        "https://garden.example/",
        world=garden(tmp_path),
        site=SiteLimits(max_pages=4, max_urls_per_iteration=5),
    )
    assert len(view.state.own.fetched) == 4 == view.state.pages_read_count
    assert "All 4 pages" in view.state.answer.why_stopped


def test_links_of_a_page_are_kept_up_to_a_limit_those_that_bear_most(ask, tmp_path):
    docs = [page(f"https://shop.example/item-{n}", f"Item {n}", f"Item {n} is blue.") for n in range(60)]
    docs.append(
        page("https://shop.example/refunds", "Refunds", "Refunds are paid within three days of the return.")
    )
    view = ask(
        "When are refunds paid?",
        "https://shop.example/",
        world=write_world(tmp_path / "w", docs),
        site=SiteLimits(max_links_per_page=5),
    )
    state = view.state
    assert len(state.own.url_graph[0]) <= 5 and "https://shop.example/refunds" in [
        state.own.all_discovered_urls[i] for i in state.own.url_graph[0]
    ]
    assert "three days" in state.answer.text


def test_several_start_pages_are_read_in_the_first_batch(ask):
    view = ask("How many people work at the dairy?", START, "https://www.alvmora-mejeri.example/")
    first = [
        action.query_or_url for action in view.state.actions if action.step == view.state.actions[0].step
    ]
    assert first == [START, "https://www.alvmora-mejeri.example/"]
    assert {view.state.own.url_found_on[0], view.state.own.url_found_on[1]} == {BY_PERSON}


def test_allowed_domains_fence_links_and_empty_means_no_fence(ask, bench):
    inside = ask(allowed_domains=["kallsteg.example"]).state
    assert all(url.startswith(START) for url in inside.own.all_discovered_urls)
    open_ = ask(
        "Who wrote about the Kallsteg factory?",
        "https://granvattnet-courier.example/2026/08/20/kallsteg-factory",
    ).state
    assert len({url.split("/")[2] for url in open_.own.all_discovered_urls}) > 1
    with pytest.raises(UsageError, match="outside the allowed domains"):
        bench.start(
            QUESTION,
            Settings(flow="site", world="demo", start_urls=[START], allowed_domains=["other.example"]),
        )
    with pytest.raises(UsageError, match="at least one page"):
        bench.start(QUESTION, Settings(flow="site", world="demo"))
    with pytest.raises(UsageError, match="not a web address"):
        bench.start(QUESTION, Settings(flow="site", world="demo", start_urls=["kallsteg"]))


def test_a_follow_up_reuses_pages_graph_and_history(ask, bench, monkeypatch):
    first = ask()
    world = Told(bench.worker.world("demo"))
    monkeypatch.setattr(bench.worker, "world", lambda name: world)
    second = ask("And who pays for the postage?", follow=first.run.id)
    state: SiteRun = second.state
    assert not {START, RETURNS} & set(world.asked), "pages of the conversation are not asked for again"
    assert state.history[0].user == QUESTION and "30 days" in state.history[0].bot
    assert (
        state.own.visited_urls[:2] == first.state.own.visited_urls
        and state.own.url_graph[0]
        and state.own.all_discovered_urls[0] == START
    )
    assert state.asked == "And who pays for the postage?" and "Kallsteg" in state.own.search_text(state)
    assert state.own.choices[0].iteration == 0, "the count of explorations starts anew"
    assert "We pay the return postage" in state.answer.text
    assert bench.thread(second.run.id) == [first.run.id, second.run.id]


def test_after_a_refusal_the_talk_is_still_about_the_thing(ask):
    red = ask("Does the C2 logger come in red?", allowed_domains=["kallsteg.example"])
    blue = ask("And in blue?", follow=red.run.id)
    assert blue.state.own.search_text(blue.state) == "Does the C2 logger come in red? And in blue?"
    assert not red.state.answer.text and "red" not in blue.state.answer.text.split()


def test_a_follow_up_explores_when_its_answer_is_elsewhere(ask):
    first = ask()
    second = ask("How long is the warranty?", follow=first.run.id)
    assert "24 months" in second.state.answer.text and second.state.own.fetched
    assert len(second.state.own.visited_urls) == len(first.state.own.visited_urls) + len(
        second.state.own.fetched
    )


def test_history_without_runs_is_understood_too(ask):
    history = [Turn(user="Who runs Älvmora Mejeri?", bot="Two.")]
    view = ask(
        "And who is the head cheesemaker there?", "https://www.alvmora-mejeri.example/", history=history
    )
    assert "Älvmora" in view.state.own.search_text(view.state) and "Oona Ruuskanen" in view.state.answer.text


def test_off_topic_is_told_from_not_covered(ask):
    away = ask("Who won the football world cup in 1998?").state.answer
    assert (
        (away.verdict, away.reason) == ("no_evidence", "off_topic")
        and "kallsteg.example" in away.certainty
        and "football" in away.certainty
    )
    near = ask("Which bank finances the C2?").state.answer
    assert (near.verdict, near.reason) == (
        "no_evidence",
        "not_covered",
    ) and "rather not guess" in near.certainty


def test_a_first_question_that_points_at_nothing_is_asked_back(ask):
    answer = ask("And that one?").state.answer
    assert (answer.verdict, answer.reason) == (
        "no_evidence",
        "needs_clarification",
    ) and answer.certainty.endswith("?")


def test_a_site_that_cannot_be_read_is_blocked_not_uncovered(ask):
    answer = ask("What is there?", "https://nowhere.example/").state.answer
    assert (answer.verdict, answer.reason) == ("no_evidence", "blocked")
    assert (
        "https://nowhere.example/: There is no such page (404)." in answer.certainty and answer.missing == ""
    ), "which page, and why"


def test_an_answer_sent_back_is_weighed_with_the_note(ask, bench):
    view = ask()
    bench.send_back(view.run.id, view.head, "How long is the warranty?")
    assert bench.drive(view.run.id) is Status.REVIEW
    again = bench.snapshot(view.run.id).state
    assert len(again.answers) == 2 and "24 months" in again.answers[-1].text
    assert [choice.iteration for choice in again.own.choices][len(view.state.own.choices)] == 0


def test_finish_writes_from_what_was_read(ask, bench):
    run_id = bench.start(QUESTION, Settings(flow="site", world="demo", model="keyless", start_urls=[START]))
    bench.finish(run_id)
    assert (
        bench.drive(run_id) is Status.REVIEW and bench.snapshot(run_id).state.answer.verdict == "no_evidence"
    )


# --- a real server
# ------------------------------------------------------------------------------------------------------


def sitemap(*urls: str, index: bool = False) -> Reply:
    kind = "sitemap" if index else "url"
    places = "".join(f"<{kind}><loc>{url}</loc></{kind}>" for url in urls)
    body = f'<?xml version="1.0"?><{"sitemapindex" if index else "urlset"}>{places}</{"sitemapindex" if index else "urlset"}>'
    return Reply(200, body.encode(), {"Content-Type": "application/xml"})


def test_robots_and_sitemaps_are_read_and_obeyed(ask):
    with Server({}) as server:
        places = (
            server.url("/help/opening-hours"),
            server.url("/secret/opening"),
            "http://192.0.2.1/opening",
        )
        packed = gzip.compress(sitemap(*places).body)
        server.pages |= {
            "/robots.txt": Reply(
                200,
                f"User-agent: *\nDisallow: /secret/\nSitemap: {server.url('/maps.xml')}\n".encode(),
                PLAIN,
            ),
            "/maps.xml": sitemap(server.url("/part.xml.gz"), index=True),
            "/part.xml.gz": Reply(200, packed, {"Content-Type": "application/gzip"}),
            "/help/opening-hours": html(
                "<h1>Opening hours</h1><p>The workshop opens at nine in the morning.</p>"
            ),
            "/secret/opening": html("<p>The workshop opens at midnight for friends.</p>"),
        }
        state = ask(
            "When does the workshop open? What are its opening hours?",
            server.url("/"),
            world="live",
            allowed_domains=["127.0.0.1"],
        ).state
        assert "nine in the morning" in state.answer.text and "midnight" not in state.answer.text
        assert state.pages[server.url("/")].outcome is Outcome.NOT_FOUND, (
            "the start page is missing: the map alone led on"
        )
        assert state.own.sitemaps[server.url("/part.xml.gz")].addresses == 3
        assert BY_SITEMAP in state.own.url_found_on.values() and not any(
            "192.0.2.1" in url for url in state.own.all_discovered_urls
        )
        assert "/secret/opening" not in server.paths()


def test_a_batch_is_asked_for_side_by_side_two_at_a_time_of_one_host(ask):
    flying, most, lock, met = [0], [0], threading.Lock(), threading.Barrier(2)

    def slow(asked: Asked) -> Reply:
        with lock:
            flying[0] += 1
            most[0] = max(most[0], flying[0])
        try:
            met.wait(10)  # each waits for a second one: alone it would never end in time
        finally:
            with lock:
                flying[0] -= 1
        return html(f"<h1>Lamp {asked.path[-1]}</h1><p>Lamp {asked.path[-1]} is green.</p>")

    with Server({"/": html("".join(f'<a href="/lamp{n}">Lamp {n}</a>' for n in range(4)))}) as server:
        server.pages |= {f"/lamp{n}": slow for n in range(4)}
        state = ask(
            "Which lamp glows purple?",
            server.url("/"),
            world="live",
            site=SiteLimits(max_urls_per_iteration=4),
        ).state
    assert most[0] == 2 and state.pages_read_count == 5


def test_stop_lets_go_of_a_whole_batch(bench):
    with Server({"/": html('<a href="/a-lamp">Lamp a</a><a href="/b-lamp">Lamp b</a>')}) as server:
        server.pages |= {
            "/a-lamp": Reply(200, b"<p>", {"Content-Type": "text/html"}, "stalls"),
            "/b-lamp": Reply(200, b"<p>", {}, "stalls"),
        }
        run_id = bench.start(
            "Which lamp is green?", Settings(flow="site", model="keyless", start_urls=[server.url("/")])
        )
        stopper = threading.Thread(
            target=lambda: (_until(lambda: len(server.paths()) >= 3), bench.stop(run_id))
        )
        stopper.start()
        assert bench.drive(run_id) is Status.STOPPED
        stopper.join()
    view = bench.snapshot(run_id)
    assert view.next == "crawl" and len(view.state.own.visited_urls) == 1, (
        "the batch that was let go left nothing behind"
    )


def _until(true: Callable[[], bool]) -> None:
    ready = threading.Event()
    while not true() and not ready.wait(0.02):
        pass


def test_of_a_large_batch_only_pages_that_bear_are_read_with_care(ask, monkeypatch, tmp_path):
    monkeypatch.setattr(steps, "MAX_CAREFUL_BATCH", 2)
    docs = [page(f"https://big.example/lamp-{n}", f"Lamp {n}", f"Plain words number {n}.") for n in range(5)]
    docs.append(
        page("https://big.example/lamp-purple", "The purple lamp", "The purple lamp hangs in the hall.")
    )
    view = ask(
        "Where does the purple lamp hang?",
        "https://big.example/",
        world=write_world(tmp_path / "w", docs),
        site=SiteLimits(max_urls_per_iteration=6),
    )
    state = view.state
    assert "in the hall" in state.answer.text
    purple = state.own.all_discovered_urls.index("https://big.example/lamp-purple")
    assert purple not in state.own.skimmed and len(state.own.fetched) > 1


# --- a scripted model
# ---------------------------------------------------------------------------------------------------


def test_a_model_decides_and_writes_and_its_quotes_are_checked(ask, bench, monkeypatch):
    def teller(messages, shape):
        prompt = messages[-1]["content"]
        if shape.__name__ == "AgentDecision":
            if RETURNS in prompt.split("Unvisited addresses:")[0]:
                return {
                    "decision": "answer",
                    "reasoning": "The returns page says it.",
                    "useful_visited_indices": [99],
                }
            index = next(line for line in prompt.splitlines() if RETURNS in line).split("]")[0].lstrip("[")
            return {
                "decision": "explore",
                "reasoning": "Returns are missing.",
                "selected_url_indices": [9999, int(index)],
            }
        passage = next(line for line in prompt.splitlines() if line.startswith("Passage "))[8:].rstrip(":")
        good = next(
            line[8:].rstrip(":")
            for line in prompt.splitlines()
            if line.startswith("Passage ") and _follows(prompt, line, "30 days")
        )
        return {
            "refusal": "none",
            "confidence": 0.9,
            "answer": [
                {
                    "text": "You have 30 days from delivery.",
                    "quotes": [{"passage_id": good, "quote": "within 30 days of delivery"}],
                },
                {
                    "text": "You get a free cake.",
                    "quotes": [{"passage_id": passage, "quote": "a free cake for everyone"}],
                },
            ],
        }

    model = scripted(bench, monkeypatch, teller)
    view = ask(instruction="Prefer official pages.", allowed_domains=["kallsteg.example"])
    state, answer = view.state, view.state.answer
    assert [choice.by for choice in state.own.choices] == ["model", "model"] and state.refusals[
        0
    ].what == "address 9999"
    assert answer.by == "model" and answer.sentences[0].backed and not answer.sentences[1].backed
    assert answer.statements.unsupported == 1 and set(state.own.useful_visited_indices) == {
        state.own.visited_urls[1]
    }
    assert all("Prefer official pages." in asked.messages[1]["content"] for asked in model.requests)


def _follows(prompt: str, line: str, words: str) -> bool:
    return words in prompt.split(line, 1)[1].split("\nPassage ")[0]


def test_a_model_understands_a_follow_up_and_may_refuse(ask, bench, monkeypatch):
    def teller(messages, shape):
        if shape.__name__ == "AgentDecision":
            return {
                "decision": "answer",
                "reasoning": "Enough.",
                "standalone_question": "Is the return of a Kallsteg C2 free for goats?",
            }
        assert (
            "Is the return of a Kallsteg C2 free for goats?" in messages[-1]["content"]
            and QUESTION in messages[-1]["content"]
        )
        return {"refusal": "off_topic", "message": "I can only help with loggers.", "confidence": 0.1}

    first = ask()
    scripted(bench, monkeypatch, teller)
    second = ask("And for goats?", follow=first.run.id)
    assert second.state.asked == "Is the return of a Kallsteg C2 free for goats?"
    assert (second.state.answer.reason, second.state.answer.certainty) == (
        "off_topic",
        "I can only help with loggers.",
    )


def test_a_model_that_fails_is_replaced_by_the_rules(ask, bench, monkeypatch):
    scripted(bench, monkeypatch, [])
    view = ask()
    assert "30 days" in view.state.answer.text and view.state.answer.by == "keyless"
    assert view.state.own.choices[0].by == "keyless" and "no reply left" in view.state.own.choices[0].trouble


def test_page_text_is_fenced_and_windowed_in_prompts(ask, bench, monkeypatch):
    seen: list[str] = []

    def teller(messages, shape):
        seen.append(messages[-1]["content"])
        return {"decision": "answer"} if shape.__name__ == "AgentDecision" else {"refusal": "not_covered"}

    scripted(bench, monkeypatch, teller)
    view = ask(site=SiteLimits(content_max_chars=120))
    window = seen[0].split("Pages read:")[1].split("Which page links")[0]
    assert "<page-" in window and len(window) < 600
    assert len(bench.page(view.state.own.url_content(view.state)[0]).text) > 120, (
        "what is stored is the whole text"
    )


def test_thanks_are_answered_in_kind_and_the_conversation_keeps_its_pages(bench, ask):
    first = ask()
    thanks = bench.follow_up(first.run.id, "thanks!")
    assert bench.drive(thanks) is Status.DONE
    view = bench.snapshot(thanks)
    assert (
        view.state.answer.is_small_talk
        and view.state.answer.certainty.startswith("You are welcome")
        and view.run.verdict == ""
    )
    assert [step.name for step in view.steps] == ["ask", "recall"], "nothing is read for it"
    after = ask("And who pays for the postage?", follow=thanks)
    assert RETURNS in after.state.own.all_discovered_urls, "it continues the earlier turns"
    assert len(after.state.own.fetched) < len(after.state.own.visited_urls), "what was read is not read again"


# --- what holds from turn to turn
# ---------------------------------------------------------------------------------------

DAIRY = "https://www.alvmora-mejeri.example/"
PANELS = "How many solar panels are there on the roof of Älvmora Mejeri?"


def panels(view: RunSnapshot) -> list[str]:
    return [
        source.url for source in view.state.answer.sources if any("412" in quote for quote in source.quotes)
    ]


def test_what_a_person_struck_stays_struck_in_the_next_turn(ask, bench):
    first = ask(PANELS, DAIRY, allowed_domains=["*.alvmora-mejeri.example", "alvmora-mejeri.example"])
    source = panels(first)[0]
    source_strikes.strike_source(bench, first.run.id, source)
    trust.set_trust_in_run(bench, first.run.id, "alvmora-mejeri.example", 0.9, "I know them")
    bench.drive(first.run.id)
    second = ask("How many solar panels are on the roof?", follow=first.run.id)
    assert (
        second.state.struck_sources == [source] and second.state.trusts["alvmora-mejeri.example"].value == 0.9
    )
    assert (
        source not in [one.url for one in second.state.answer.sources]
        and "412" not in second.state.answer.text
    )
    assert {fact.trust for fact in second.state.facts.values()} == {0.9}
    assert verify_bundle(export.export_run(bench, second.run.id, "bundle")).is_valid
    source_strikes.restore_source(bench, second.run.id, source)
    assert (
        bench.drive(second.run.id) is Status.REVIEW
        and "412" in bench.snapshot(second.run.id).state.answer.text
    )


def test_a_fact_struck_stays_so_in_the_next_turn(ask, bench):
    first = ask(PANELS, DAIRY, allowed_domains=["*.alvmora-mejeri.example", "alvmora-mejeri.example"])
    told = [fact.id for fact in first.state.facts.values() if "412" in fact.statement + fact.quote]
    fact_edits.mark(bench, first.run.id, told, "struck")
    bench.drive(first.run.id)
    second = ask("How many solar panels are on the roof?", follow=first.run.id)
    assert "412" not in second.state.answer.text and all(
        second.state.facts[name].decision == "struck" for name in told
    )


def test_a_fact_corrected_is_told_in_a_persons_words_in_the_next_turn(ask, bench):
    first = ask(PANELS, DAIRY, allowed_domains=["*.alvmora-mejeri.example", "alvmora-mejeri.example"])
    cited = first.state.answer.sentences[0].fact_ids[0]
    fact_edits.revise(
        bench, first.run.id, [FactEdit(cited, statement="The roof of the dairy carries 412 panels.")]
    )
    bench.drive(first.run.id)
    second = ask("How many solar panels are on the roof?", follow=first.run.id)
    assert "carries 412 panels" in second.state.answer.text and second.state.facts[cited].former


def test_pages_of_the_conversation_are_held_to_the_sources_of_the_new_question(ask, bench):
    first = ask(PANELS, DAIRY, allowed_domains=["*.alvmora-mejeri.example", "alvmora-mejeri.example"])
    source = panels(first)[0]
    settings = first.run.settings

    def follow(former: str, **narrower: Any) -> RunSnapshot:
        run_id = bench.follow_up(former, PANELS, settings.model_copy(update=narrower))
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    old = follow(first.run.id, before="2020-01-01", dated_only=True)
    assert (
        not old.state.answer.text
        and "published" in old.state.pages[source].detail
        and not old.state.pages[source].page_id
    )
    away = follow(old.run.id, start_urls=[START], allowed_domains=["kallsteg.example"])
    assert not away.state.answer.text and away.state.pages[source].outcome is Outcome.REFUSED
    wide = follow(away.run.id)
    assert panels(wide), "what only the former question's sources shut out is read again"


def test_a_send_back_and_a_fork_begin_with_fresh_pages(ask, bench, tmp_path):
    settings = {
        "world": garden(tmp_path),
        "site": SiteLimits(max_pages=3, max_urls_per_iteration=1, max_iterations=3),
        "at_cap": "ask",
    }
    run_id = bench.start(
        "When does the gate open?",
        Settings(flow="site", model="keyless", start_urls=["https://garden.example/"], **settings),
    )
    assert bench.drive(run_id) is Status.PAUSED and len(bench.snapshot(run_id).state.own.fetched) == 3
    forked = forks.fork_run(bench, run_id, bench.snapshot(run_id).head - 1)
    assert bench.drive(forked) is Status.PAUSED and len(bench.snapshot(forked).state.own.fetched) == 6, (
        "explorations count anew, too"
    )
    budget.write_up(bench, run_id)
    assert bench.drive(run_id) is Status.REVIEW
    bench.send_back(run_id, bench.snapshot(run_id).head, "When does the gate beside the beds open?")
    bench.drive(run_id)
    assert len(bench.snapshot(run_id).state.own.fetched) == 6
    pages = next(
        meter for meter in budget.read_meters(bench, bench.snapshot(run_id)) if meter.name == "pages"
    )
    assert (pages.used, pages.cap) == (3, 3)


def test_a_word_on_trust_holds_for_what_a_site_is_read_for_later_and_can_be_taken_back(ask, bench):
    first = ask(
        "In which year was Älvmora Mejeri founded?", DAIRY, allowed_domains=["*.alvmora-mejeri.example"]
    )
    signs = {name: fact.trust for name, fact in first.state.facts.items()}
    assert all(ref.trust > 0 and ref.trust_why for ref in first.state.pages.values() if ref.page_id)
    trust.set_trust_in_run(bench, first.run.id, "alvmora-mejeri.example", 0.0, "no")
    bench.drive(first.run.id)
    page_input.paste(
        bench,
        first.run.id,
        DAIRY,
        "Älvmora Mejeri was founded in the year 1979 by two partners, as the board says.",
    )
    bench.drive(first.run.id)
    later = bench.snapshot(first.run.id).state
    new = [fact for name, fact in later.facts.items() if name not in signs]
    assert new and {fact.trust for fact in new} == {0.0} and later.answer.verdict == "no_evidence"
    trust.set_trust_in_run(bench, first.run.id, "alvmora-mejeri.example", trust.RESET_TRUST)
    back = bench.snapshot(first.run.id).state.facts
    assert {name: back[name].trust for name in signs} == signs
