"""What a person rules on a conflict, each as one change: take a value, both hold, neither does, open again; look for more. Pure.

A ruling needs a reason: it stands in the answer, in the edits and in every export. It holds against the count of voices and against
what is read later, until the person opens the conflict again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.errors import NotFound, UsageError
from agent.evidence.compare import same_value
from agent.evidence.settlement import CLOSED
from agent.evidence.voices import voices
from agent.flows.revising import revised
from agent.flows.state import Research
from agent.state import Change
from agent.types import Conflict, Fact, Note
from agent.urls import site

LONGEST = 500
"""Characters of a reason or a query."""
Ruling = Literal["take", "both", "neither", "open"]


def shown(state: Research) -> list[Conflict]:
    """The conflicts that stand, about the question first, open ones before settled ones."""
    known = [conflict for conflict in state.conflicts.values() if conflict.reason not in CLOSED]
    return sorted(known, key=lambda conflict: (conflict.status != "open", not conflict.asks))


@dataclass(frozen=True)
class Side:
    """One value of a conflict with what stands behind it. `sites` are all that say so, `voices` the independent ones among them."""

    value: str
    chosen: bool
    facts: list[Fact]
    sites: list[str]
    voices: list[str]
    earliest: str = ""
    latest: str = ""
    """When it was said first and last: published, or read where no fact tells when it was published (ISO 8601)."""
    published: bool = False

    @property
    def counted(self) -> str:
        """How many independent sites, in words: copies of one text count once, and are told."""
        many, few = len(self.sites), len(self.voices)
        if many > few:
            return f"{many} sites, {few} {'voice' if few == 1 else 'voices'}: copies of one text, or of one origin"
        return f"{few} independent {'site' if few == 1 else 'sites'}"


def sides(conflict: Conflict, facts: Mapping[str, Fact]) -> list[Side]:
    """The values of a conflict with the facts behind them, the chosen one first."""
    found = []
    for value in sorted(conflict.values, key=lambda value: value.text != conflict.chosen):
        behind = [facts[i] for i in value.fact_ids if i in facts]
        published = sorted(fact.published_at for fact in behind if fact.published_at)
        moments = published or sorted(fact.fetched_at for fact in behind if fact.fetched_at)
        sites = list(dict.fromkeys(site(fact.url) or "you" for fact in behind)) or value.sites
        ends = (moments[0], moments[-1]) if moments else ("", "")
        chosen = bool(conflict.chosen) and value.text == conflict.chosen
        found.append(Side(value.text, chosen, behind, sites, voices(behind) or value.sites, *ends, bool(published)))
    return found


def standing(state: Research, name: str) -> Conflict:
    """A conflict by its id, or by the beginning of it that only one has. Raises NotFound."""
    known = [conflict for conflict in shown(state) if conflict.id == name] or [c for c in shown(state) if name and c.id.startswith(name)]
    if len(known) != 1:
        raise NotFound(f"the run has no conflict {name}: look again, what was read since may have closed it" if not known else f"{name} fits several")
    return known[0]


def ruled(state: Research, step: int, name: str, ruling: Ruling, *, value: str = "", because: str = "") -> Change:
    """The change of a person's ruling. Raises NotFound for an unknown conflict, UsageError without a reason or with an unknown value."""
    conflict, because = standing(state, name), " ".join(because.split())[:LONGEST]
    if ruling != "open" and not because:
        raise UsageError("give a reason: it stands in the answer, and whoever reads it can judge by it")
    if ruling == "open" and conflict.status == "open":
        raise UsageError("the conflict is open already")
    chosen = _chosen(conflict, value) if ruling == "take" else ""
    said = conflict.model_copy(update={
        "status": "open" if ruling == "open" else "settled", "chosen": chosen, "reason": because, "ruling": ruling,
        "settled_by": "" if ruling == "open" else "person",
    })  # fmt: skip
    return revised(state, step, conflicts=[said], why=_told(conflict, ruling, chosen, because))


def _chosen(conflict: Conflict, value: str) -> str:
    texts = [known.text for known in conflict.values]
    same = [text for text in texts if text == value] or [text for text in texts if value.strip() and same_value(conflict.kind, text, value.strip())]
    if len(same) != 1:
        raise UsageError(f"“{value[:80]}” is none of its values; they are: {'; '.join(texts) or 'none'}")
    return same[0]


def _told(conflict: Conflict, ruling: Ruling, chosen: str, because: str) -> str:
    if ruling == "open":
        return f"opened {conflict.about} again"
    held = {"take": f"for “{chosen}”", "both": "as both hold", "neither": "as neither holds"}[ruling]
    return f"settled {conflict.about} {held}, because “{because}”"


def query(state: Research, conflict: Conflict) -> str:
    """Words that may find what would settle a conflict, for the person to change: what is asked, or its subject, and its values."""
    asked = state.question.rstrip("?! ") if conflict.asks else conflict.about.replace("(", "").replace(")", "")
    values = " ".join(value.text for value in conflict.values[:3]) if conflict.kind != "polarity" else ""
    return " ".join(f"{asked} {values}".split())[:200]


def wished(state: Research, step: int, name: str, words: str) -> Change:
    """The change that asks for a step that would settle it: a search for these words comes next."""
    conflict, words = standing(state, name), " ".join(words.split())[:LONGEST]
    if not words:
        raise UsageError("say what to search for")
    return {"notes": [Note(step=step, text=words, kind="look", about=conflict.id)]}
