"""What a person rules on a conflict, each as one change: take a value, both hold, neither does, open again;
look for more. Pure.

A ruling needs a reason: it stands in the answer, in the edits and in every export. It holds against the count
of voices and against what is read later, until the person opens the conflict again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.evidence.contradiction.resolution import CLOSED_REASONS
from agent.evidence.contradiction.statements import is_same_value
from agent.evidence.source_independence import find_independent_sources
from agent.flows.shared.recompute import recompute_after_edit
from agent.text.urls import site
from agent.types import Conflict, Fact, Note

MAX_REASON_CHARS = 500
"""Characters of a reason or a query."""
Ruling = Literal["take", "both", "neither", "open"]


def active_conflicts(state: RunState) -> list[Conflict]:
    """The conflicts that stand, about the question first, open ones before settled ones."""
    known = [conflict for conflict in state.conflicts.values() if conflict.reason not in CLOSED_REASONS]
    return sorted(known, key=lambda conflict: (conflict.status != "open", not conflict.asks))


@dataclass(frozen=True)
class SideSummary:
    """One value of a conflict with what stands behind it. `sites` are all that say so, `voices` the
    independent ones among them."""

    value: str
    is_chosen: bool
    facts: list[Fact]
    sites: list[str]
    independent_sites: list[str]
    earliest: str = ""
    latest: str = ""
    """When it was said first and last: published, or read where no fact tells when it was published (ISO
    8601)."""
    has_publication_date: bool = False

    @property
    def source_count_text(self) -> str:
        """How many independent sites, in words: copies of one text count once, and are told."""
        many, few = len(self.sites), len(self.independent_sites)
        if many > few:
            return f"{many} sites, {few} {'voice' if few == 1 else 'voices'}: copies of one text, or of one origin"
        return f"{few} independent {'site' if few == 1 else 'sites'}"


def summarize_sides(conflict: Conflict, facts: Mapping[str, Fact]) -> list[SideSummary]:
    """The values of a conflict with the facts behind them, the chosen one first."""
    found = []
    for value in sorted(conflict.values, key=lambda value: value.text != conflict.chosen):
        behind = [facts[i] for i in value.fact_ids if i in facts]
        published = sorted(fact.published_at for fact in behind if fact.published_at)
        moments = published or sorted(fact.fetched_at for fact in behind if fact.fetched_at)
        sites = list(dict.fromkeys(site(fact.url) or "you" for fact in behind)) or value.sites
        ends = (moments[0], moments[-1]) if moments else ("", "")
        chosen = bool(conflict.chosen) and value.text == conflict.chosen
        found.append(
            SideSummary(
                value.text,
                chosen,
                behind,
                sites,
                find_independent_sources(behind) or value.sites,
                *ends,
                bool(published),
            )
        )
    return found


def find_conflict(state: RunState, name: str) -> Conflict:
    """A conflict by its id, or by the beginning of it that only one has. Raises NotFound."""
    known = [conflict for conflict in active_conflicts(state) if conflict.id == name] or [
        c for c in active_conflicts(state) if name and c.id.startswith(name)
    ]
    if len(known) != 1:
        raise NotFound(
            f"the run has no conflict {name}: look again, what was read since may have closed it"
            if not known
            else f"{name} fits several"
        )
    return known[0]


def rule_on_conflict(
    state: RunState, step: int, name: str, ruling: Ruling, *, value: str = "", because: str = ""
) -> Change:
    """The change of a person's ruling. Raises NotFound for an unknown conflict, UsageError without a reason
    or with an unknown value."""
    conflict, because = find_conflict(state, name), " ".join(because.split())[:MAX_REASON_CHARS]
    if ruling != "open" and not because:
        raise UsageError("give a reason: it stands in the answer, and whoever reads it can judge by it")
    if ruling == "open" and conflict.status == "open":
        raise UsageError("the conflict is open already")
    chosen = _match_value(conflict, value) if ruling == "take" else ""
    said = conflict.model_copy(
        update={
            "status": "open" if ruling == "open" else "settled",
            "chosen": chosen,
            "reason": because,
            "ruling": ruling,
            "settled_by": "" if ruling == "open" else "person",
        }
    )
    return recompute_after_edit(
        state, step, conflicts=[said], why=_describe_ruling(conflict, ruling, chosen, because)
    )


def _match_value(conflict: Conflict, value: str) -> str:
    texts = [known.text for known in conflict.values]
    same = [text for text in texts if text == value] or [
        text for text in texts if value.strip() and is_same_value(conflict.kind, text, value.strip())
    ]
    if len(same) != 1:
        raise UsageError(f"“{value[:80]}” is none of its values; they are: {'; '.join(texts) or 'none'}")
    return same[0]


def _describe_ruling(conflict: Conflict, ruling: Ruling, chosen: str, because: str) -> str:
    if ruling == "open":
        return f"opened {conflict.topic} again"
    held = {"take": f"for “{chosen}”", "both": "as both hold", "neither": "as neither is correct"}[ruling]
    return f"settled {conflict.topic} {held}, because “{because}”"


def suggest_query(state: RunState, conflict: Conflict) -> str:
    """Words that may find what would settle a conflict, for the person to change: what is asked, or its
    subject, and its values."""
    asked = (
        state.question.rstrip("?! ") if conflict.asks else conflict.topic.replace("(", "").replace(")", "")
    )
    values = " ".join(value.text for value in conflict.values[:3]) if conflict.kind != "polarity" else ""
    return " ".join(f"{asked} {values}".split())[:200]


def request_search(state: RunState, step: int, name: str, words: str) -> Change:
    """The change that asks for a step that would settle it: a search for these words comes next."""
    conflict, words = find_conflict(state, name), " ".join(words.split())[:MAX_REASON_CHARS]
    if not words:
        raise UsageError("say what to search for")
    return {"notes": [Note(step=step, text=words, kind="look", about=conflict.id)]}
