"""Which passages of the pages of a round a model is shown."""

from __future__ import annotations

from types import SimpleNamespace

from agent.flows.research.analyze_pages import OpenPage, choose_readings
from agent.flows.research.state import ResearchRun, ResearchState
from agent.retrieval.passages import split_passages
from agent.types import Outcome, Page, PageRef
from tests.records import fill

TOOLS = SimpleNamespace(client=object(), find_room=lambda role: 8_000)
FILLER = "The weather over the sound was mild and nothing of note was seen by anybody that week. " * 5


def open_page(url: str, text: str, *queries: str) -> OpenPage:
    page = Page(url=url, final_url=url, outcome=Outcome.OK, title="The sound", text=text)
    ref = fill(PageRef, url=url, page_id=url, outcome=Outcome.OK)
    return OpenPage(ref, url, page, queries=list(queries), passages=split_passages(page, url))


def read(*pages: OpenPage) -> list[str]:
    """What is shown of each page, once the readings are chosen."""
    state = ResearchRun(question="Who rows, and which lamp is lit?", own=ResearchState())
    list(choose_readings(state, TOOLS, pages))  # type: ignore[arg-type]
    return [" ".join(passage.text for passage in page.reading.passages) for page in pages]


def test_each_page_of_a_round_shows_what_it_was_opened_for() -> None:
    crew = [f"The crew of the ferry Marna, list {n}: the crew slept, the crew ate. " * 6 for n in range(30)]
    text = "\n\n".join([*crew, f"A lamp is lit. {FILLER}", *[f"{FILLER} Entry {n}." for n in range(30)]])
    one, other = "crew of the ferry Marna", "Which lamp is lit?"
    keel = "keel of the crew of the ferry Marna"
    pages = (
        open_page("https://a.example/", text, one, keel, other),
        open_page("https://b.example/", text, other),
    )
    first, second = read(*pages)
    assert "crew slept" in first and "lamp is lit" in second
