"""The digest: its writer sees whole items in windows, says who said what, and its quotes become the facts."""

from __future__ import annotations

from agent.flows.collect import items
from agent.types import Passage

SITE = "https://a.example"


def _passages(*texts: str) -> list[Passage]:
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    return [
        Passage(id=f"x{n}", page_id="page", url=SITE, start=start, end=start + len(text), text=text)
        for n, (start, text) in enumerate(zip(starts, texts, strict=True))
    ]


def test_a_long_item_keeps_its_beginning_and_what_fits_the_topic() -> None:
    texts = ["Head line of it. " * 10, "plain words " * 40, "more words " * 40, "The winner was Ulla. " * 10]
    kept = items.fit_item("winner", _passages(*texts), 600)
    assert [passage.text[:10] for passage in kept] == [texts[0][:10], texts[1][:10], texts[3][:10]]
    assert sum(len(passage.text) for passage in kept) == 600
    assert all(passage.end - passage.start == len(passage.text) for passage in kept), (
        "what is cut stays a quote"
    )
