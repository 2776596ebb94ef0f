"""What of a run may leave: nothing of private notes, in whatever form; nor with another run of its thread (trust
case S9.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.actions import acts
from agent.actions.bundles import verify_bundle
from agent.actions.export import describe_withheld, export_run
from agent.actions.release import release
from agent.errors import UsageError
from agent.settings.config import read_config
from agent.types import Settings, Status
from agent.types.answers import SUPPORTED_VERDICTS
from agent.workbench import Workbench
from tests.web import private_run
from tests.web.private_run import (
    ARCHITECT,
    CANARIES,
    COVERT,
    NODDED,
    NOTES,
    TRANSLATED,
    find_canaries,
    list_ways_out,
    private_runs,
)
from tests.web.private_threads import FLOWS, NOTE, PARAPHRASE, private_thread
from tests.web.site import Site, html

pytestmark = pytest.mark.slow
RULED_OUT = ["wiki.example", "archive.example"]


@pytest.mark.parametrize("keyless", [False, True], ids=["model", "rules"])
def test_no_word_of_a_private_note_is_in_anything_that_leaves(tmp_path: Path, keyless: bool) -> None:
    with private_runs(tmp_path, keyless=keyless) as made:
        if made.model:
            shown = "\n".join(prompt for _, prompt in made.model.prompts)
            assert [word for word in CANARIES if word not in shown] == [], "the model was shown each of them"
        told = {name: found for name, body in list_ways_out(made) if (found := find_canaries(body))}
        assert told == {}
        for run_id in made.runs:
            found = verify_bundle(export_run(made.bench, run_id, "bundle"))
            assert found.is_valid, (run_id, found.problems)


def test_the_owner_finds_a_private_note_by_its_words_and_erases_it(tmp_path: Path) -> None:
    with private_runs(tmp_path, keyless=True) as made:
        assert [run.id for run in made.bench.runs(text="quibblor")] == [made.fork, made.run]
        assert [run.id for run in made.bench.runs(text="Tarnmoor")] == [made.fork]
        note = next(n for n in made.bench.snapshot(made.run).state.notes if n.kind == "send_back")
        made.bench.act(made.run, "erase_note", step=note.step)
        assert made.bench.runs(text="quibblor") == []
        kept = [n.text for n in made.bench.snapshot(made.fork).state.notes]
        assert NOTES["comment"] in kept and "[erased]" in kept, "the other notes stay"
        made.bench.act(made.run, "erase_note", step=note.step)  # again: the file is written anew once more
        with pytest.raises(UsageError, match="holds no private note"):
            made.bench.act(made.run, "erase_note", step=0)
        made.bench.store.ledger.update_run(made.further, status="running")
        comment = next(n for n in made.bench.snapshot(made.run).state.notes if n.kind == "comment")
        with pytest.raises(UsageError, match="pause it, then erase"):
            made.bench.act(made.run, "erase_note", step=comment.step)


def test_a_note_that_was_undone_stays_private_and_can_be_erased(tmp_path: Path) -> None:
    with private_runs(tmp_path) as made:
        note = next(n for n in made.bench.snapshot(made.run).state.notes if n.kind == "send_back")
        while acts.is_possible("undo", made.bench.snapshot(made.run)):
            made.bench.act(made.run, "undo")
            made.bench.drive(made.run)
        assert not any(n.private for n in made.bench.snapshot(made.run).state.notes)
        told = {name: found for name, body in list_ways_out(made) if (found := find_canaries(body))}
        assert told == {}
        made.bench.act(made.run, "erase_note", step=note.step)
        assert made.bench.runs(text="quibblor") == []


def test_a_sentence_made_from_a_note_leaves_only_where_its_quotes_support_it(tmp_path: Path) -> None:
    with private_runs(tmp_path) as made:
        shown, answer = made.bench.snapshot(made.run).state.answer, None
        by_text = {said.text: said.check for said in shown.sentences} if shown else {}
        assert {TRANSLATED, ARCHITECT} <= by_text.keys() and by_text[NODDED] in SUPPORTED_VERDICTS
        view, _ = release(made.bench, made.run)
        answer = view.state.answer
        assert answer and ARCHITECT in [said.text for said in answer.sentences], answer.sentences
        hidden = [said for said in answer.sentences if said.text == "[hidden]"]
        assert any(said.check not in SUPPORTED_VERDICTS for said in hidden)
        for name in ("md", "html"):
            read = export_run(made.bench, made.run, name).decode()
            assert ARCHITECT in read and "[hidden]" not in read and f"Le {COVERT}" not in read
            assert "mandator" not in read, "no page has the word, whatever the judge said"
        told = describe_withheld(made.bench, made.run)
        assert told.startswith(f"{len(hidden)} sentences of the answer stay here"), told


def test_which_sources_a_private_note_rules_out_stays_through_the_pause_and_the_persons_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def revise(_script: Any, prompt: str) -> dict[str, Any]:
        is_back = NOTES["comment"] in prompt
        sites = {"allowed_sites": ["wiki.example"]} if is_back else {"excluded_sites": RULED_OUT}
        return {"understood": f"what {private_run.DERIVED} wants", "needs_research": False, **sites}

    def drive(bench: Workbench, run_id: str) -> None:
        if bench.drive(run_id) is Status.PAUSED:
            asked.append(bench.snapshot(run_id).state.halt.why)  # type: ignore[union-attr]
            bench.act(run_id, "leave_out", bench.snapshot(run_id).head)
            bench.drive(run_id)
        assert bench.snapshot(run_id).run.status is Status.REVIEW

    monkeypatch.setattr(private_run.Repeater, "revision", revise)
    monkeypatch.setattr(private_run, "_drive", drive)
    with private_runs(tmp_path) as made:
        assert asked and all(site in asked[0] for site in RULED_OUT)
        names = [step.name for step in made.bench.snapshot(made.run).steps]
        assert "leave_out" in names
        view, _ = release(made.bench, made.run)
        told = [step.change.get("halt") or {} for step in view.steps]
        told += [reading for step in view.steps for reading in step.change.get("readings", [])]
        assert [site for site in RULED_OUT if site in repr(told)] == []


@pytest.mark.parametrize("flow", FLOWS)
def test_a_private_note_reaches_no_role_whose_reply_goes_out_and_no_file(tmp_path: Path, flow: str) -> None:
    with private_thread(tmp_path, flow) as made:
        assert any(words for _, words in made.model.seen), "the writer was shown it"
        first, further = map(made.bench.snapshot, made.runs)
        assert any(PARAPHRASE in answer.text for answer in first.state.answers), "and said it"
        assert further.state.earlier_private_notes[0] == NOTE
        assert made.list_told() == []
        assert made.list_leaks() == []


@pytest.mark.parametrize("private", [True, False], ids=["private", "public"])
def test_a_private_note_chooses_no_page_of_a_site(tmp_path: Path, private: bool) -> None:
    links = "".join(f"<li><a href='/{n}'>{n}</a></li>" for n in ("boats", "people", "zorbian-merger"))
    pages = {
        "/": html(f"<h1>Kallsteg yard</h1><p>The Kallsteg yard builds boats since 1950.</p><ul>{links}</ul>")
    }
    with Site({**pages, "/zorbian-merger": html("<p>The Zorbian merger was called off.</p>")}) as site:
        own = {"TOUCHSTONE_DATA": str(tmp_path), "OLLAMA_URL": "", "EMBEDDING_MODEL": "off"}
        bench = Workbench(read_config({**own, "FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"}))
        limits = {"crawl_ahead": 0, "max_urls_per_iteration": 1, "max_iterations": 1}
        settings = Settings(flow="site", model="keyless", start_urls=[site.url("/")], site=limits)
        run_id = bench.start("Since when does the Kallsteg yard build boats?", settings)
        bench.drive(run_id)
        note = "What became of the Zorbian merger?"
        bench.act(run_id, "send_back", bench.snapshot(run_id).head, note=note, private=private)
        bench.drive(run_id)
        bench.shutdown()
        assert ("/zorbian-merger" in site.paths()) is not private
