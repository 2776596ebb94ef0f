"""Striking a source: a site or page with all its facts, those that are read from it later included."""

from __future__ import annotations

from dataclasses import dataclass

from agent.actions.commit import commit_edit
from agent.actions.context import ActionContext
from agent.answering import fact_view
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.errors import UsageError
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, site
from agent.types import Edit, Fact, Sentence


@dataclass(frozen=True)
class StrikeImpact:
    """What striking a source affects: its active facts, the answer's sentences that lose all their support,
    and those that lose a part of it."""

    source: str
    facts: list[Fact]
    sentences: list[Sentence]
    weakened: list[Sentence]


def strike_source(bench: ActionContext, run_id: str, source: str, head: int | None = None) -> int:
    """Strike a site or page with all its facts; returns the step's number."""
    return commit_edit(
        bench, run_id, "strike_source", lambda state, step: build_strike(state, step, source), head
    )


def restore_source(bench: ActionContext, run_id: str, source: str, head: int | None = None) -> int:
    """Restore a struck source with the facts that were struck with it; returns the step's number."""
    return commit_edit(
        bench, run_id, "restore_source", lambda state, step: build_restore(state, step, source), head
    )


def preview_strike(state: RunState, source: str) -> StrikeImpact:
    """What striking this source (a page's address or a site) would affect. Raises UsageError."""
    name = resolve_source(state, source)
    facts = [
        fact
        for fact in state.facts.values()
        if fact_view.is_from_source(fact.url, name) and fact.decision != "struck"
    ]
    gone = {fact.id for fact in facts}
    sentences = state.answer.sentences if state.answer else []
    cited = [sentence for sentence in sentences if gone.intersection(sentence.fact_ids)]
    unsupported = [
        sentence
        for sentence in cited
        if not any(i in state.facts and state.facts[i].can_support for i in set(sentence.fact_ids) - gone)
    ]
    return StrikeImpact(name, facts, unsupported, [s for s in cited if s not in unsupported])


def resolve_source(state: RunState, source: str) -> str:
    """The source as it is stored: an address of a page of the run, a site or a host. Raises UsageError when
    the run has nothing from it."""
    text = source.strip()
    normalized = canonicalize(text) if "://" in text else text.lower().removeprefix("www.").rstrip("/")
    known = {fact.url for fact in state.facts.values() if fact.url}
    known |= {page.final_url or page.url for page in state.pages.values()}
    name = text if text in known or text in map(site, known) else normalized
    if not name or not any(fact_view.is_from_source(url, name) for url in known):
        raise UsageError(
            f"this run has nothing from “{text[:120]}”: name a site like example.org, or the address of a "
            "page it read"
        )
    return name


def build_strike(state: RunState, step: int, source: str) -> Change:
    """The change that strikes a source."""
    impact = preview_strike(state, source)
    if impact.source in state.strikes and not impact.facts:
        raise UsageError(f"{impact.source} is excluded already")
    why = f"excluded the source {impact.source} with {format_count(len(impact.facts), 'fact')}"
    return {"strikes": {impact.source: step}, "edits": [Edit(step=step, text=why)]}


def build_restore(state: RunState, step: int, source: str) -> Change:
    """The change that restores a source."""
    name = source.strip() if source.strip() in state.strikes else resolve_source(state, source)
    if name not in state.strikes:
        raise UsageError(f"{name} is not excluded")
    change = {"-strikes": [name]}
    facts = state_after(state, change).facts
    restored = [
        name for name, fact in facts.items() if state.facts[name].struck_with and not fact.struck_with
    ]
    why = f"restored the source {name} with {format_count(len(restored), 'fact')}"
    return {**change, "edits": [Edit(step=step, text=why)]}
