"""What the keyless site flow says is what the site says: answers from rows and sentences that speak to what
is asked, refusals else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.settings import config
from agent.text.urls import host
from agent.types import Answer, Settings, Status
from agent.workbench import RunSnapshot, Workbench

pytestmark = pytest.mark.slow

KALLSTEG, DAIRY, COURIER = (
    "https://kallsteg.example/",
    "https://www.alvmora-mejeri.example/",
    "https://granvattnet-courier.example/",
)
Ask = Callable[..., RunSnapshot]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    opened = Workbench(
        config.read_config({"FETCH_GAP": "0", "TOUCHSTONE_DATA": str(tmp_path_factory.mktemp("truth"))})
    )
    yield opened
    opened.shutdown()


@pytest.fixture(scope="module")
def ask(bench: Workbench) -> Ask:
    def asked(question: str, start: str = KALLSTEG, follow: str = "", **more: Any) -> RunSnapshot:
        settings = Settings(
            **{
                "flow": "site",
                "world": "demo",
                "model": "keyless",
                "start_urls": [start],
                "allowed_domains": [host(start)],
                **more,
            }
        )
        run_id = bench.follow_up(follow, question) if follow else bench.start(question, settings)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    return asked


def said(view: RunSnapshot) -> Answer:
    assert view.state.answer is not None
    return view.state.answer


@pytest.mark.parametrize(
    "question",
    [
        "Does the C2 logger come in red?",
        "What is the price of the C2 in Japan?",
        "Who is the CEO of Kallsteg?",
        "Does the R1 work with goats?",
        "Write me a poem about love",
        "What's the weather tomorrow?",
    ],
)
def test_what_the_site_does_not_say_is_refused(ask: Ask, question: str):
    answer = said(ask(question))
    assert (answer.verdict, answer.text) == ("no_evidence", "") and answer.reason in (
        "not_covered",
        "off_topic",
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does error E17 mean?", "E17"),
        ("How long does the battery last?", "Battery life: 5 years at one reading a minute"),
        ("How long is the warranty?", "24 months"),
    ],
)
def test_the_answer_quotes_what_the_site_says(ask: Ask, question: str, answer: str):
    found = said(ask(question))
    assert answer in found.text and found.verdict != "no_evidence"
