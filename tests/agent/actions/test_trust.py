"""A person's trust in a domain is kept for every run, used for what is read, and within a run is one step
that recounts."""

from __future__ import annotations

import pytest

from agent.actions import fact_edits, page_input, trust, undo_edits
from agent.cli.main import main
from agent.errors import NotFound, UsageError
from agent.evidence.source_trust import assess_trust
from agent.text.urls import site
from agent.types import Fact, Status
from agent.workbench import Workbench
from tests.web.demo_runs import DEMO, reviewed

pytestmark = pytest.mark.slow

FOUNDED = "In which year was Älvmora Mejeri founded?"
DAIRY = "alvmora-mejeri.example"


def test_a_word_is_kept_replaced_and_taken_back(bench):
    trust.set_trust_rating(bench, "https://forum.two.example/x", 0.3, " anyone may write ")
    trust.set_trust_rating(bench, "one.example", 1.0)
    trust.set_trust_rating(bench, "two.example", 0.0, "an ad")
    assert [(one.domain, one.value, one.reason) for one in trust.list_trust_ratings(bench)] == [
        ("one.example", 1.0, ""),
        ("two.example", 0.0, "an ad"),
    ]
    trust.delete_trust_rating(bench, "one.example")
    with pytest.raises(NotFound, match="no trust rating of"):
        trust.delete_trust_rating(bench, "one.example")
    with pytest.raises(UsageError, match="from 0"):
        trust.set_trust_rating(bench, "one.example", 1.1)


def test_what_is_read_counts_as_the_person_said(bench):
    source = bench.snapshot(reviewed(bench)).state.answer.sources[0]
    domain = trust.set_trust_rating(bench, source.url, 0.15, "not independent").domain
    state = bench.snapshot(reviewed(bench)).state
    facts = [fact for fact in state.facts.values() if domain in fact.url]
    assert facts and {fact.trust for fact in facts} == {0.15}
    pages = [page for page in state.pages.values() if domain in page.url and page.page_id]
    assert all(page.trust >= 0.6 and page.trust_why for page in pages), "the signs are kept beside it"


def test_within_a_run_it_is_a_step_and_the_answer_is_written_anew(bench):
    run_id = reviewed(bench)
    state = bench.snapshot(run_id).state
    domain = trust.normalize_domain(state.answer.sources[0].url)
    trust.set_trust_in_run(bench, run_id, domain, 0.0, "it sells the panels", always=True)
    assert bench.drive(run_id) is Status.REVIEW
    view = bench.snapshot(run_id)
    assert [step.name for step in view.steps if step.by == "person"][-1] == "trust"
    assert len(view.state.answers) == 2 and not any(
        domain in source.url for source in view.state.answer.sources
    )
    undo_edits.undo(bench, run_id)
    assert bench.drive(run_id) is Status.REVIEW and any(
        domain in source.url for source in bench.snapshot(run_id).state.answer.sources
    )
    assert trust.list_trust_ratings(bench)[0].reason == "it sells the panels", (
        "what holds for every run is no part of this one"
    )
    undo_edits.redo(bench, run_id)
    assert bench.drive(run_id) is Status.REVIEW and not any(
        domain in source.url for source in bench.snapshot(run_id).state.answer.sources
    )
    trust.set_trust_in_run(bench, run_id, domain, trust.RESET_TRUST, always=True)
    assert bench.drive(run_id) is Status.REVIEW
    assert trust.list_trust_ratings(bench) == [] and any(
        domain in source.url for source in bench.snapshot(run_id).state.answer.sources
    )


def of_dairy(bench: Workbench, run_id: str) -> dict[str, Fact]:
    return {
        name: fact for name, fact in bench.snapshot(run_id).state.facts.items() if site(fact.url) == DAIRY
    }


def asked_of_the_site(bench: Workbench) -> str:
    run_id = bench.start(
        FOUNDED, DEMO.model_copy(update={"flow": "site", "start_urls": [f"https://www.{DAIRY}/"]})
    )
    assert bench.drive(run_id) is Status.REVIEW
    return run_id


@pytest.mark.parametrize(("here", "always"), [(0.0, 1.0), (trust.RESET_TRUST, 0.0)])
def test_of_a_site_a_word_in_the_run_holds_for_what_is_read_later_whatever_holds_for_every_run(
    bench, here, always
):
    run_id = asked_of_the_site(bench)
    known = of_dairy(bench, run_id)
    trust.set_trust_rating(bench, DAIRY, always)
    trust.set_trust_in_run(bench, run_id, DAIRY, here)
    assert bench.drive(run_id) is Status.REVIEW
    url = next(ref.url for ref in bench.snapshot(run_id).state.pages.values() if ref.page_id)
    page_input.paste(
        bench,
        run_id,
        url,
        "Älvmora Mejeri was founded in the year 1979 by two partners, as the board of the dairy says.",
    )
    assert bench.drive(run_id) is Status.REVIEW
    new = [fact.trust for name, fact in of_dairy(bench, run_id).items() if name not in known]
    assert not new if here == 0 else min(new) >= 0.6
    if here == 0:
        assert not [source for source in bench.snapshot(run_id).state.answer.sources if DAIRY in source.url]


def test_the_page_of_a_fact_that_a_person_adds_has_its_signs(bench):
    run_id = reviewed(bench)
    known, url = of_dairy(bench, run_id), f"https://www.{DAIRY}/people/"
    fact_edits.add(
        bench, run_id, "", url=url, quote="Älvmora Mejeri employs 31 people, counted on 1 September 2026."
    )
    for value in (0.1, trust.RESET_TRUST):
        assert bench.drive(run_id) is Status.REVIEW
        trust.set_trust_in_run(bench, run_id, DAIRY, value)
    (added,) = [fact for name, fact in of_dairy(bench, run_id).items() if name not in known]
    assert added.trust == assess_trust(bench.page(added.page_id)).value == 0.65


def test_the_command(capsys, monkeypatch):
    assert main(["trust"]) == 0 and "each page is trusted by its signs" in capsys.readouterr().out
    assert main(["trust", "www.two.example", "high", "--because", "the maker itself"]) == 0
    assert capsys.readouterr().out.split() == ["two.example", "0.80", "high", "the", "maker", "itself"]
    assert main(["trust", "two.example"]) == 2 and "say how far" in capsys.readouterr().err
    assert main(["trust", "two.example", "utterly"]) == 2 and "is no trust" in capsys.readouterr().err
    assert main(["trust", "--forget", "two.example"]) == 0
    assert main(["trust", "--forget", "two.example"]) == 2


def test_the_command_within_a_run(capsys, bench):
    run_id = reviewed(bench)
    assert main(["trust", "--run", run_id]) == 0
    name, value, *_ = capsys.readouterr().out.splitlines()[0].split()
    assert main(["trust", name, "low", "--run", run_id, "--because", "a reseller"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(name))
    assert "0.30" in line and "your word: a reseller" in line and float(value) > 0.3
