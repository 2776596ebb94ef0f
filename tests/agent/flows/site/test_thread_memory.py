"""What a later turn of a conversation with a site knows: pages, graph, and a person's word."""

from __future__ import annotations

from typing import Any

import pytest

from agent.actions import export
from agent.actions.bundles import verify_bundle
from agent.actions.fact_edits import FactEdit
from agent.flows.site.state import SiteRun
from agent.types import Outcome, Status
from agent.workbench import RunSnapshot
from tests.agent.flows.site.cases import QUESTION, RETURNS, SEED_WAVES, START
from tests.web.folders import Told

pytestmark = pytest.mark.slow


def test_a_follow_up_reuses_pages_graph_and_history(ask, bench, monkeypatch):
    first = ask(site=SEED_WAVES)
    world = Told(bench.worker.world("demo"))
    monkeypatch.setattr(bench.worker, "world", lambda name: world)
    second = ask("And who pays for the postage?", follow=first.run.id)
    state: SiteRun = second.state
    assert not {START, RETURNS} & set(world.asked), "pages of the conversation are not asked for again"
    assert state.history[0].user == QUESTION and "30 days" in state.history[0].bot
    assert state.own.visited_urls[:2] == first.state.own.visited_urls and state.own.url_graph[0]
    assert state.own.all_discovered_urls[0] == START
    assert state.own.choices[0].iteration == 0, "the count of explorations starts anew"
    assert "We pay the return postage" in state.answer.text
    assert bench.thread(second.run.id) == [first.run.id, second.run.id]


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
    bench.act(first.run.id, "strike_source", source=source)
    bench.drive(first.run.id)
    second = ask("How many solar panels are on the roof?", follow=first.run.id)
    assert list(second.state.strikes) == [source]
    assert source not in [one.url for one in second.state.answer.sources]
    assert "412" not in second.state.answer.text
    assert verify_bundle(export.export_run(bench, second.run.id, "bundle")).is_valid
    bench.act(second.run.id, "restore_source", source=source)
    assert bench.drive(second.run.id) is Status.REVIEW
    assert "412" in bench.snapshot(second.run.id).state.answer.text


def test_a_fact_struck_stays_so_in_the_next_turn(ask, bench):
    first = ask(PANELS, DAIRY, allowed_domains=["*.alvmora-mejeri.example", "alvmora-mejeri.example"])
    told = [fact.id for fact in first.state.facts.values() if "412" in fact.statement + fact.quote]
    bench.act(first.run.id, "mark", facts=told, decision="struck")
    bench.drive(first.run.id)
    second = ask("How many solar panels are on the roof?", follow=first.run.id)
    assert "412" not in second.state.answer.text and all(
        second.state.facts[name].decision == "struck" for name in told
    )


def test_a_fact_corrected_is_told_in_a_persons_words_in_the_next_turn(ask, bench):
    first = ask(PANELS, DAIRY, allowed_domains=["*.alvmora-mejeri.example", "alvmora-mejeri.example"])
    cited = first.state.answer.sentences[0].fact_ids[0]
    bench.act(
        first.run.id, "revise", edits=[FactEdit(cited, statement="The roof of the dairy carries 412 panels.")]
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
    assert not old.state.answer.text and "published" in old.state.pages[source].detail
    assert not old.state.pages[source].page_id
    away = follow(old.run.id, start_urls=[START], allowed_domains=["kallsteg.example"])
    assert not away.state.answer.text and away.state.pages[source].outcome is Outcome.REFUSED
    wide = follow(away.run.id)
    assert panels(wide), "what only the former question's sources shut out is read again"


# --- how far a follow-up reads
# ---------------------------------------------------------------------------------------
