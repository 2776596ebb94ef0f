"""The digest: its writer sees whole items in windows, says who said what, and its quotes become the facts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.evidence.citation_check import list_evidence
from agent.flows.collect import item_passages
from agent.flows.collect.digest import WINDOW_CHARS
from agent.llm.detect import DetectedModel
from agent.types import CollectLimits, Passage, Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.folders import page, write_world
from tests.web.scripted import ScriptedModel

SITE = "https://a.example"
PASSAGE = re.compile(r"^Passage (p\d+):\n<(passage-\w+)>\n(.*?)\n</\2>$", re.MULTILINE | re.DOTALL)
FILLER = "The hall was cold and the coffee was warm, as it is each year in this town by the lake. " * 30
RESULT = "In the end Ulla Fjellberg won with 64 points, ahead of Kim Aas with 61."
THREAD = "".join(
    f'<article class="post"><span class="username">{user}</span> <time datetime="2026-11-0{n}">{n} November 2026'
    f'</time><div class="post-body">{text}</div></article>'
    for n, (user, text) in enumerate(
        [
            ("sven", "My pump stops after ten minutes, and the lamp beside it blinks twice. What can I do?"),
            ("olle", "Buy another one, mine did the same and nobody could repair it for me."),
            ("frida", "Clean the small filter behind the lid: that cured my pump of the two blinks."),
        ],
        start=1,
    )
)
Write = Callable[[list[tuple[str, str]]], list[dict[str, Any]]]


@pytest.fixture
def digested(bench: Workbench, tmp_path: Path) -> Callable[..., RunSnapshot]:
    """Collect the pages with a model that decides "content" for each and lets `write` make the digest of the
    passages it sees; `prompts` gets the prompts of the digest."""

    def run(docs: dict[str, str], write: Write, prompts: list[str] | None = None) -> RunSnapshot:
        def reply(messages: list[dict[str, Any]], shape: type) -> Any:
            prompt = str(messages[-1]["content"])
            match shape.__name__:
                case "IntentReply":
                    return {"topic": "the finals", "target_section": "", "author": ""}
                case "PageDecision":
                    return {"action": "EXTRACT_CONTENT", "confidence": 0.9, "page_type": "article"}
                case "DigestReply":
                    if prompts is not None:
                        prompts.append(prompt)
                    return {"answer": write([(name, text) for name, _, text in PASSAGE.findall(prompt)])}
                case "CheckClaimsReply":
                    numbers = re.findall(r"^Statement (\d+):", prompt, re.MULTILINE)
                    return {"claims": [{"n": int(n), "supported": True, "quote": "q1"} for n in numbers]}
            return {}

        world = write_world(
            tmp_path / "w", [page(f"{SITE}/{n}", n, "x", html=html) for n, html in docs.items()]
        )
        bench.worker.model_search.found = DetectedModel(ScriptedModel(reply), "scripted", "")
        settings = Settings(
            flow="collect", world=world, start_urls=[f"{SITE}/{n}" for n in docs], collect=CollectLimits()
        )
        run_id = bench.start("What came out?", settings)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    return run


def _quote(passages: list[tuple[str, str]], text: str, quote: str) -> dict[str, Any]:
    where = next((name for name, shown in passages if quote in shown), "nowhere")
    return {"text": text, "quotes": [{"passage_id": where, "quote": quote}]}


def test_what_stands_at_the_end_of_an_article_reaches_the_writer(
    digested: Callable[..., RunSnapshot],
) -> None:
    article = f"<h1>The finals</h1><p>{FILLER}</p><p>{RESULT}</p>"
    view = digested({"finals": article}, lambda shown: [_quote(shown, RESULT, RESULT)])
    answer = view.state.answer
    assert answer is not None and answer.verdict == "answered" and answer.text == RESULT
    assert [sentence.backed for sentence in answer.sentences] == [True]
    assert [fact.quote for fact in view.state.facts.values()] == [RESULT], "its quotes are the run's facts"


def test_the_posts_of_a_thread_reach_the_writer_with_who_wrote_them(
    digested: Callable[..., RunSnapshot],
) -> None:
    cure = "Clean the small filter behind the lid"
    prompts: list[str] = []
    view = digested(
        {"pump": f"<h1>Pump stops</h1>{THREAD}"},
        lambda shown: [_quote(shown, f"frida advises: {cure}", cure)],
        prompts,
    )
    shown = [text for _, _, text in PASSAGE.findall(prompts[0])]
    assert [text.split("\n")[0] for text in shown] == [
        "[sven, 2026-11-01, post 1]",
        "[olle, 2026-11-02, post 2]",
        "[frida, 2026-11-03, post 3]",
    ]
    (fact,) = view.state.facts.values()
    assert (fact.quote, fact.heading, fact.title) == (cure, "frida, 2026-11-03, post 3", "Pump stops")
    assert fact.published_at == "2026-11-03", "a post has its own day"
    assert list_evidence(fact) == [(cure, "Pump stops, frida, 2026-11-03, post 3, a.example")]
    assert view.state.answer.sentences[0].backed
    assert "What people post is their opinion" in view.state.answer.certainty


def test_a_quote_that_is_not_in_its_window_backs_nothing(digested: Callable[..., RunSnapshot]) -> None:
    lie = {"text": "Kim Aas won.", "quotes": [{"passage_id": "p1", "quote": "Kim Aas won with 70 points."}]}
    view = digested({"finals": f"<h1>The finals</h1><p>{FILLER}</p><p>{RESULT}</p>"}, lambda _: [lie])
    assert view.state.answer.verdict == "no_evidence" and view.state.answer.statements.dropped == 1


def _passages(*texts: str) -> list[Passage]:
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    return [
        Passage(id=f"x{n}", page_id="page", url=SITE, start=start, end=start + len(text), text=text)
        for n, (start, text) in enumerate(zip(starts, texts, strict=True))
    ]


def test_a_long_item_keeps_its_beginning_and_what_fits_the_topic() -> None:
    texts = ["Head line of it. " * 10, "plain words " * 40, "more words " * 40, "The winner was Ulla. " * 10]
    kept = item_passages.fit_item("winner", _passages(*texts), 600)
    assert [passage.text[:10] for passage in kept] == [texts[0][:10], texts[1][:10], texts[3][:10]]
    assert sum(len(passage.text) for passage in kept) == 600
    assert all(passage.end - passage.start == len(passage.text) for passage in kept), (
        "what is cut stays a quote"
    )


def test_a_short_item_is_shown_whole() -> None:
    passages = _passages("One.", "Two.", "Three.")
    assert item_passages.fit_item("three", passages, WINDOW_CHARS) == passages
    assert 4_000 <= WINDOW_CHARS <= 6_000
