"""The record of a `verify_again` run: how each quote of an answer stands on its page today."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from agent.engine.run_state import FlowState, ReadText, RunState
from agent.engine.state import upsert
from agent.text.plurals import format_count
from agent.text.urls import canonicalize
from agent.types import Record

Standing = Literal["changed", "gone", "not_read", "moved", "stands"]
"""`stands`: found again under the same headings. `moved`: found at another address after redirects, or under
other headings. `changed`: the page is there, the quote is not. `gone`: the server says that there is no such
page (404, 410). `not_read`: nobody can say, because the page could not be read."""


class QuoteStanding(Record):
    """How the quote of a fact (`id`) stands."""

    id: str
    standing: Standing
    now: str = Field(default="")
    """In words: where it stands now, or why not. "" where it stands as it did."""
    nearest: str = Field(default="")
    """Where it changed, the sentence of the page that comes closest; "" for none."""
    now_url: str = Field(default="")
    now_page_id: str = Field(default="")
    """The page of today, where it was read."""

    @property
    def name(self) -> str:
        """The standing as a heading: "Not read"."""
        return self.standing.replace("_", " ").capitalize()

    @property
    def text(self) -> str:
        """How it stands, in a sentence or two: "Moved. Under “Prices”."."""
        return f"{self.name}. {self.now}".strip()


class VerifyAgainState(FlowState):
    """What a `verify_again` run keeps beside the shared part, whose facts are the quotes as they were."""

    standings: Annotated[dict[str, QuoteStanding], upsert] = Field(default_factory=dict)

    def urls_to_fetch(self, run: RunState[Any]) -> list[str]:
        """The addresses on the web that were not asked for, each once."""
        left = (fact.url for fact in run.facts.values() if fact.id not in self.standings)
        return list({name: url for url in left if (name := canonicalize(url))}.values())

    def describe_fact(self, fact_id: str) -> str:
        """How its quote stands today."""
        return self.standings[fact_id].text if fact_id in self.standings else ""

    def summarize(self) -> str:
        """How many of the quotes stand, and what became of the others, in a sentence."""
        counts = Counter(str(one.standing) for one in self.standings.values())
        found = counts.pop("stands", 0) + (moved := counts.pop("moved", 0))
        told = f"{found} of {format_count(len(self.standings), 'quote')} still on the pages today"
        told += f", {moved} of them elsewhere" if moved else ""
        others = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()))
        return f"{told}; {others}." if others else f"{told}."

    def export_extra(self, run: RunState[Any], read_text: ReadText = lambda _id: "") -> dict[str, Any]:
        """Every quote with how it stands, for JSON."""
        known = {"quote", "url", "title", "heading", "page_id", "fetched_at"}
        shown = ((run.facts[one.id], one) for one in self.standings.values())
        quotes = [fact.model_dump(include=known) | one.model_dump() for fact, one in shown]
        return {"verifies": run.settings.verifies, "quotes": quotes}
