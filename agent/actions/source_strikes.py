"""Striking a source: a site or page with all its facts, those that are read from it later included."""

from __future__ import annotations

from dataclasses import dataclass

from agent.actions.commit import commit_edit
from agent.actions.context import ActionContext
from agent.answering import fact_view
from agent.answering.recompute import recompute_after_edit
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import UsageError
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, site
from agent.types import Fact, Sentence


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
    if impact.source in state.struck_sources and not impact.facts:
        raise UsageError(f"{impact.source} is excluded already")
    struck = {"decision": "struck", "struck_with": impact.source}
    facts = [fact.model_copy(update=struck) for fact in impact.facts]
    why = f"excluded the source {impact.source} with {format_count(len(facts), 'fact')}"
    return {
        **recompute_after_edit(state, step, facts=facts, why=why),
        "struck_sources": list(dict.fromkeys([*state.struck_sources, impact.source])),
    }


def build_restore(state: RunState, step: int, source: str) -> Change:
    """The change that restores a source."""
    name = source.strip() if source.strip() in state.struck_sources else resolve_source(state, source)
    if name not in state.struck_sources:
        raise UsageError(f"{name} is not excluded")
    left = [other for other in state.struck_sources if other != name]
    restored = [
        fact.replace(decision="none", struck_with="")
        for fact in state.facts.values()
        if fact.struck_with == name
    ]
    facts = fact_view.apply_person_marks(state.model_copy(update={"struck_sources": left}), restored)
    active = sum(fact.decision == "none" for fact in facts)
    why = f"restored the source {name} with {format_count(active, 'fact')}"
    return {**recompute_after_edit(state, step, facts=facts, why=why), "struck_sources": left}
