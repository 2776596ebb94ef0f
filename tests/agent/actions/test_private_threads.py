"""A private note in a thread of each flow that researches: it reaches the writer alone, and leaves with no run of
the thread (trust case S9.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings.config import read_config
from agent.types import Settings
from agent.workbench import Workbench
from tests.web.private_threads import FLOWS, NOTE, PARAPHRASE, private_thread
from tests.web.site import Site, html

pytestmark = pytest.mark.slow


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
