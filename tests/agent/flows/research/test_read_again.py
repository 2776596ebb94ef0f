"""A note that asks for more on a matter whose passage a model was shown before: the passage comes back into the
prompt, gives facts for a part of its own, and stands in a section of the full report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.engine.run_state import RunState
from agent.evidence.block_layout import lay_out_blocks
from agent.types import Settings, Status
from tests.web.folders import write_world
from tests.web.model_server import ModelServer
from tests.web.researching_model import Script, crawl, find_fact_ids, workbench

pytestmark = pytest.mark.slow
QUESTION = "How is sail fever treated, and what prevents sail fever?"
ASKED = "How is sail fever treated in children?"
URL = "https://clinic.example/sail-fever"
ADULTS = "Sail fever is treated with rest and brine in adults."
SALT = "A salt wash every evening prevents sail fever."
CHILDREN = "Sail fever is treated with warm milk for nine days in children."
TEXT = "\n\n".join(
    [f"{ADULTS} It passes in a week.", f"{CHILDREN} Brine is not given.", f"{SALT} The wash is cold."]
)
NOTE = "In the part on treatment say more about what is done in children; keep the rest."


def extract(quote: str, part: str) -> dict[str, Any]:
    about = {"subject": "sail fever", "attribute": f"matter {part}", "part": part}
    return {"statement": quote, "quote": quote, "passage_id": "p1", **about}


class Clinic(Script):
    """Reads the page for two parts, and again for the one that the note adds; writes what facts it is given."""

    def __init__(self, *first: str) -> None:
        parts = {"parts": [{"question": f"{half}?"} for half in QUESTION.rstrip("?").split(", and ")]}
        again = {"next_action": "more", "query_or_url": URL, "part": "3", "reasoning": "The note asks."}
        super().__init__(crawl(URL), again, plan=lambda _prompt: parts)
        self.rounds = [[(ADULTS, "1"), (SALT, "2"), *((quote, "1") for quote in first)], [(CHILDREN, "3")]]

    def analyzer(self, prompt: str) -> dict[str, Any]:
        found = [extract(*pair) for pair in self.rounds.pop(0) if pair[0] in prompt.partition("Pages of")[2]]
        parts = ["1", "2", "3"] if "3: " in prompt else ["1", "2"]
        return {"facts": found, "answered_parts": parts, "assessment": "Seen.", "confidence_score": 0.9}

    def outline(self, prompt: str) -> dict[str, Any]:
        sections = [{"heading": f"Part {id}", "part": id, "form": "prose", "fact_ids": []} for id in "12"]
        return {"title": "Sail fever", "sections": sections}

    def section(self, prompt: str) -> dict[str, Any]:
        wanted = [CHILDREN] if is_on_note(prompt) else [ADULTS, SALT]
        return {"blocks": [{"kind": "paragraph", "sentences": self.cite(prompt, *wanted)}]}

    def summary(self, prompt: str) -> dict[str, Any]:
        return {"sentences": []}

    def revision(self, prompt: str) -> dict[str, Any]:
        return {"understood": "more on children", "questions": [ASKED], "needs_research": True}

    def cite(self, prompt: str, *quotes: str) -> list[dict[str, Any]]:
        """A sentence for each of these facts that is listed, in the words of its statement."""
        listed = [
            (name, next(x for x in prompt.splitlines() if f"{name} [" in x)) for name in find_fact_ids(prompt)
        ]
        return [{"text": q, "fact_ids": [name]} for name, line in listed for q in quotes if q in line]


def is_on_note(prompt: str) -> bool:
    """Whether the section that a note asks for is to be written."""
    return ASKED in prompt.partition("The section to write")[2]


def send_back(folder: Path, script: Clinic) -> tuple[RunState, RunState]:
    """The run at its full report, and after the note."""
    page = {"url": URL, "title": "Sail fever", "text": TEXT}
    with ModelServer(script.served) as server, workbench(server) as bench:
        settings = Settings(world=write_world(folder / "w", [page]), report="full", threshold=0.99)
        run_id = bench.start(QUESTION, settings)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        before = bench.snapshot(run_id)
        bench.act(run_id, "send_back", before.head, note=NOTE)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return before.state, bench.snapshot(run_id).state


@pytest.mark.parametrize("first", [(), (CHILDREN,)], ids=["passed over", "a fact of another part"])
def test_a_passage_shown_before_is_read_for_the_note_and_reported(
    tmp_path: Path, first: tuple[str, ...]
) -> None:
    script = Clinic(*first)
    before, after = send_back(tmp_path, script)
    decision = [prompt for role, prompt in script.prompts if role == "decision"][-1]
    assert URL in decision.partition("Pages that were read in part")[2]
    *_, again = [prompt for role, prompt in script.prompts if role == "analyzer"]
    assert CHILDREN in again.partition("Pages of this round")[2]
    assert [part.question for part in after.plan][-1] == ASKED and after.plan[-1].status == "answered"
    assert any(fact.part == "3" and fact.quote == CHILDREN for fact in after.facts.values())
    own = [said for said in after.answer.sentences if said.part == "3"]
    assert [said.text for said in own] == [CHILDREN] and own[0].backed
    headings = [
        layout.block.text for layout in lay_out_blocks(after.answer) if layout.block.kind == "heading"
    ]
    assert any("children" in heading for heading in headings)
    [written] = [prompt for role, prompt in script.prompts if role == "section" and is_on_note(prompt)]
    assert SALT not in written, "of another part"
    kept = {said.text for said in before.answer.sentences}
    assert kept <= {said.text for said in after.answer.sentences}, "the rest stays word for word"
