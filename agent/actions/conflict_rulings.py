"""A person's ruling on a conflict, or a search that may resolve it. Each is one step.

    resolve_conflict(bench, run_id, "c0123", "take", value="1979", because="the register is the first source")
    request_search(bench, run_id, "c0123", "Nordvik Dairy founding deed")

A ruling needs a reason, which is shown in the answer, the edits and every export. It outweighs the count of
sources and later pages until the person opens the conflict again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.actions.commit import EDITABLE_FLOWS, GO_ON, UNANSWERED_STATUSES, PersonStep, commit, commit_edit
from agent.actions.context import ActionContext
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.evidence.contradiction.statements import is_same_value
from agent.evidence.source_independence import find_independent_sources
from agent.flows import FLOWS
from agent.text.plurals import format_count
from agent.text.urls import site
from agent.types import Conflict, Edit, Fact, Note, Ruling, Status

MAX_REASON_CHARS = 500
"""Characters of a reason or a query."""
SEARCHING_FLOWS = ("research",)
"""The flows that can search for one conflict."""
PersonRuling = Literal["take", "both", "neither", "open"]


def resolve_conflict(
    bench: ActionContext,
    run_id: str,
    name: str,
    ruling: PersonRuling,
    *,
    value: str = "",
    because: str = "",
    head: int | None = None,
) -> int:
    """Rule on a conflict: `take` a `value`, `both` or `neither` is correct, or make it `open` again. Returns
    the step's number. Raises NotFound, ConcurrentChange, UsageError (no reason, unknown value)."""
    return commit_edit(
        bench,
        run_id,
        "reopen" if ruling == "open" else "settle",
        lambda state, step: rule_on_conflict(state, step, name, ruling, value=value, because=because),
        head,
    )


def request_search(bench: ActionContext, run_id: str, name: str, words: str, head: int | None = None) -> int:
    """Have the run search for these words next; a run that has ended goes on. Returns the step's number.
    Raises NotFound, UsageError, ConcurrentChange."""
    flow = FLOWS[bench.snapshot(run_id).run.settings.flow]
    if flow.name not in SEARCHING_FLOWS:
        instead = "ask it a follow-up" if flow.name in EDITABLE_FLOWS else "ask a new question"
        raise UsageError(f"a {flow.name} run cannot search for one conflict: {instead} instead")

    def build_step(view: RunSnapshot) -> PersonStep:
        conflict, query = find_conflict(view.state, name), " ".join(words.split())[:MAX_REASON_CHARS]
        if not query:
            raise UsageError("say what to search for")
        change: Change = {"notes": [Note(step=view.head + 1, text=query, kind="look", about=conflict.id)]}
        columns = {} if view.run.status is Status.RUNNING else GO_ON
        if view.run.status not in UNANSWERED_STATUSES or flow.is_ending(view.next):
            return PersonStep(*flow.reenter(change), columns)
        return PersonStep(change, columns=columns)

    return commit(bench, run_id, "look", build_step, head=head)


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
    earliest: str = ""
    latest: str = ""
    """First and last publication of its facts, or first and last fetch when none has a date (ISO 8601)."""
    has_publication_date: bool = False

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


def rule_on_conflict(
    state: RunState, step: int, name: str, ruling: PersonRuling, *, value: str = "", because: str = ""
) -> Change:
    """The change of a ruling. Raises NotFound (conflict) and UsageError (no reason, or no such value)."""
    conflict, because = find_conflict(state, name), " ".join(because.split())[:MAX_REASON_CHARS]
    if ruling != "open" and not because:
        raise UsageError("give a reason: it is shown in the answer, for everyone who reads it")
    if ruling == "open" and conflict.status == "open":
        raise UsageError("the conflict is open already")
    said = Ruling(
        conflict=conflict.id,
        kind=conflict.kind,
        values=conflict.values,
        ruling=ruling,
        chosen=_match_value(conflict, value) if ruling == "take" else "",
        reason=because,
        by="person",
        step=step,
    )
    outcome = {"take": f"for “{said.chosen}”", "both": "as both correct", "neither": "as neither correct"}
    why = f"reopened {conflict.topic}"
    if ruling != "open":
        why = f"resolved {conflict.topic} {outcome[ruling]}, because “{because}”"
    return {"rulings": [said], "edits": [Edit(step=step, text=why)]}


def _match_value(conflict: Conflict, value: str) -> str:
    texts, wanted = [known.text for known in conflict.values], value.strip()
    same = [text for text in texts if text == value]
    same = same or [text for text in texts if wanted and is_same_value(conflict.kind, text, wanted)]
    if len(same) != 1:
        raise UsageError(f"“{value[:80]}” is none of its values; they are: {'; '.join(texts) or 'none'}")
    return same[0]
