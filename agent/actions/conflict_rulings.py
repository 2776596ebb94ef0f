"""A person's ruling on a conflict, or a search that may resolve it. Each is one step.

A ruling needs a reason, which is shown in the answer, the edits and every export. It outweighs the count of
sources and later pages until the person opens the conflict again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agent.actions.commit import GO_ON, UNANSWERED_STATUSES, PersonStep, edit_step
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.evidence.contradiction import is_same_value
from agent.evidence.sources import find_independent_sources
from agent.flows import FLOWS
from agent.text.plurals import clip, format_count
from agent.text.urls import site
from agent.types import Conflict, Edit, Fact, Note, Ruling, Status

MAX_REASON_CHARS = 500
"""Characters of a reason or a query."""
PersonRuling = Literal["take", "both", "neither", "open"]
ConflictId = Annotated[str, Field(description="its id, or the beginning of it")]


def look(
    view: RunSnapshot, conflict: ConflictId, words: Annotated[str, Field(description="what to search for")]
) -> PersonStep:
    """Search for what may resolve a conflict; a run that has ended goes on."""
    found, query = find_conflict(view.state, conflict), " ".join(words.split())[:MAX_REASON_CHARS]
    if not query:
        raise UsageError("say what to search for")
    change: Change = {"notes": [Note(step=view.head + 1, text=query, kind="look", about=found.id)]}
    columns, flow = {} if view.run.status is Status.RUNNING else GO_ON, FLOWS[view.run.settings.flow]
    if view.run.status not in UNANSWERED_STATUSES or flow.is_ending(view.next):
        return PersonStep(*flow.reenter(change), columns)
    return PersonStep(change, columns=columns)


def active_conflicts(state: RunState) -> list[Conflict]:
    """The conflicts, open ones first, those about the question first among them."""
    return sorted(
        state.conflicts.values(), key=lambda conflict: (conflict.status != "open", not conflict.asks)
    )


@dataclass(frozen=True)
class SideSummary:
    """One value of a conflict with its facts, their sites, and the independent sources among these."""

    value: str
    is_chosen: bool
    facts: list[Fact]
    sites: list[str]
    independent_sites: list[str]
    earliest: str
    latest: str
    """First and last publication of its facts, or first and last fetch when none has a date (ISO 8601)."""
    has_publication_date: bool

    @property
    def source_count_text(self) -> str:
        """The number of independent sources in words, with the copies among the sites."""
        independent = format_count(len(self.independent_sites), "independent source")
        if len(self.sites) > len(self.independent_sites):
            return f"{len(self.sites)} sites, {independent}: copies of one text, or of one origin"
        return independent


def summarize_sides(conflict: Conflict, facts: Mapping[str, Fact]) -> list[SideSummary]:
    """The values of a conflict with their facts, the chosen value first."""
    summaries = []
    for value in sorted(conflict.values, key=lambda value: value.text != conflict.chosen):
        supporting = [facts[i] for i in value.fact_ids if i in facts]
        published = sorted(fact.published_at for fact in supporting if fact.published_at)
        times = published or sorted(fact.fetched_at for fact in supporting if fact.fetched_at) or [""]
        summaries.append(
            SideSummary(
                value.text,
                bool(conflict.chosen) and value.text == conflict.chosen,
                supporting,
                list(dict.fromkeys(site(fact.url) or "you" for fact in supporting)) or value.sites,
                find_independent_sources(supporting) or value.sites,
                times[0],
                times[-1],
                bool(published),
            )
        )
    return summaries


def find_conflict(state: RunState, name: str) -> Conflict:
    """A conflict by its id, or by a prefix that only one has. Raises NotFound."""
    active = active_conflicts(state)
    found = [conflict for conflict in active if conflict.id == name]
    found = found or [conflict for conflict in active if name and conflict.id.startswith(name)]
    if not found:
        raise NotFound(f"the run has no conflict {name}: a page read since may have closed it")
    if len(found) > 1:
        raise NotFound(f"{name} fits several conflicts")
    return found[0]


def settle(
    view: RunSnapshot,
    conflict: ConflictId,
    ruling: Annotated[
        PersonRuling, Field(description="take a value, both or neither is right, or open again")
    ],
    value: Annotated[str, Field(description="the value to take")] = "",
    because: Annotated[
        str, Field(description="the reason, which the answer states; needed unless the ruling is open")
    ] = "",
) -> PersonStep:
    """Rule on a conflict, or open it again."""
    found, because, step = find_conflict(view.state, conflict), " ".join(because.split()), view.head + 1
    because = because[:MAX_REASON_CHARS]
    if ruling != "open" and not because:
        raise UsageError("give a reason: it is shown in the answer, for everyone who reads it")
    if ruling == "open" and found.status == "open":
        raise UsageError("the conflict is open already")
    chosen = ""
    if ruling == "take":
        texts = [known.text for known in found.values]
        like = (text for text in texts if value.strip() and is_same_value(found.kind, text, value.strip()))
        if len(same := [text for text in texts if text == value] or list(like)) != 1:
            raise UsageError(f"“{clip(value)}” is none of its values; they are: {'; '.join(texts) or 'none'}")
        chosen = same[0]
    said = Ruling(
        conflict=found.id,
        kind=found.kind,
        values=found.values,
        ruling=ruling,
        chosen=chosen,
        reason=because,
        by="person",
        step=step,
    )
    outcome = {"take": f"for “{chosen}”", "both": "as both correct", "neither": "as neither correct"}
    why, name = f"reopened {found.topic}", "reopen"
    if ruling != "open":
        why, name = f"resolved {found.topic} {outcome[ruling]}, because “{because}”", "settle"
    return edit_step(view, {"rulings": [said], "edits": [Edit(step=step, text=why)]}, name)
