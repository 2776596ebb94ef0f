"""A world of three pages on a ferry, and runs of it by a scripted model that decides in rounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent.engine.run_state import RunState
from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.folders import page, write_world
from tests.web.researching_model import Script
from tests.web.scripted import ScriptedModel

QUESTION = "Who built the ferry Vinga, and when was the ferry Vinga launched?"
BUILDER, LAUNCH, OTHER = (f"https://{name}.example/vinga" for name in ("yard", "archive", "museum"))
BUILT = "The ferry Vinga was built by Aldo Brinck."
LAUNCHED = "The ferry Vinga was launched in 1931."
FILLER = "\n".join(
    f"Of the harbour in year {n} the chronicle tells little that is new. " * 6 for n in range(40)
)
DOCS = [
    page(BUILDER, "Ferry Vinga, the yard", f"{BUILT}\nIt has two decks."),
    page(LAUNCH, "Ferry Vinga, the archive", f"{LAUNCHED}\nIt sails each day."),
    page(OTHER, "Ferry Vinga, the museum", f"The ferry Vinga has a museum.\n{FILLER}\n{LAUNCHED}"),
]
PLAN = {"parts": [{"question": "Who built the ferry Vinga?"}, {"question": "When was it launched?"}]}


def analyze(prompt: str, sure: float = 0.4) -> dict[str, Any]:
    """Facts from every passage that holds one, each with the id of its passage."""
    shown = re.split(r"Passage (p\d+)[^\n]*:\n", prompt.split("Pages of this round")[-1])
    facts = [
        {"quote": quote, "statement": quote, "passage_id": name, "part": part}
        for name, text in zip(shown[1::2], shown[2::2], strict=True)
        for quote, part in ((BUILT, "1"), (LAUNCHED, "2"))
        if quote in text
    ]
    return {"facts": facts, "confidence_score": sure, "assessment": "Read."}


@contextmanager
def bench_with(tmp_path, *decisions: Any, **more: Any) -> Iterator[tuple[Workbench, Script, str]]:
    given = {"analyzer": analyze, "sentences": [(LAUNCHED, None)], "plan": PLAN, **more}
    script = Script(*decisions, **given)
    bench = Workbench(config.read_config())
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(script.scripted), "")  # type: ignore[method-assign]
    try:
        yield bench, script, write_world(tmp_path / "world", DOCS)
    finally:
        bench.shutdown()


def run(
    bench: Workbench, world: str, question: str = QUESTION, rests: Status = Status.REVIEW, **settings: Any
) -> RunSnapshot:
    run_id = bench.start(question, Settings(world=world, **settings))
    assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
    return bench.snapshot(run_id)


def told(state: RunState) -> list[tuple[str, str]]:
    return [(action.action, action.query_or_url) for action in state.actions]


ANNA = {
    "next_action": "ask",
    "query_or_url": "Which ferry Vinga is meant?",
    "choices": ["the one of 1931", "the one of 1960"],
    "reasoning": "Two ferries have the name.",
}
