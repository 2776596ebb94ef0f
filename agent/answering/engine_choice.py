"""Which engine is asked when one fails, and the results of several as one list. Pure but for the clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

from agent.evidence.sources import DisjointSets
from agent.retrieval.link_scoring import lead_id
from agent.retrieval.scorer import fuse_rankings
from agent.text.urls import canonicalize
from agent.types import (
    ENGINE_BY_ACTION,
    ENGINE_NAMES,
    Action,
    Outcome,
    Proposal,
    SearchHit,
    SearchResult,
    rank_substitutes,
)
from agent.web.search_results import find_pause

ANSWERED = (Outcome.OK, Outcome.EMPTY)


def cool_down(cooling: Mapping[str, str], result: SearchResult) -> dict[str, str]:
    """The engines that are left alone, and until when (ISO 8601), after this result."""
    pause = find_pause(result)
    if not pause:
        return dict(cooling)
    until = datetime.now(UTC) + timedelta(seconds=pause)
    stamp = until.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {**cooling, result.engine: stamp}


def take_over_searches(
    actions: Sequence[Action], available: Iterable[str], skipped: Collection[str] = ()
) -> list[Proposal]:
    """For each search of the latest step that its engine failed to answer and nobody `skipped`, the same
    search with the next engine that suits and was not asked yet. `available` are the possible actions."""
    engines = [ENGINE_BY_ACTION[action] for action in available if action in ENGINE_BY_ACTION]
    found: dict[str, Proposal] = {}
    latest = [done for done in actions if done.step == actions[-1].step and done.action in ENGINE_BY_ACTION]
    for failed in latest:
        name, words = ENGINE_BY_ACTION[failed.action], lead_id("query", failed.query_or_url)
        same = [
            done
            for done in actions
            if done.action in ENGINE_BY_ACTION and lead_id("query", done.query_or_url) == words
        ]
        if failed.query_or_url in skipped or any(done.outcome in ANSWERED for done in same):
            continue
        asked = {done.action for done in same}
        left = [other for other in rank_substitutes(name, engines) if f"search_{other}" not in asked]
        for other in left[:1]:
            found[words] = Proposal(
                next_action=f"search_{other}",
                query_or_url=failed.query_or_url,
                part=failed.part,
                about=failed.about,
                reasoning=f"{ENGINE_NAMES[name]} did not answer this; {ENGINE_NAMES[other]} takes over.",
                by="code",
            )
    return list(found.values())


def merge_results(rankings: Sequence[Sequence[SearchHit]], max_results: int) -> list[SearchHit]:
    """The hits of several searches as one list, best first by reciprocal rank fusion. Hits with one address
    or one DOI are one: the first, completed by what the others know."""
    hits, same = list(chain.from_iterable(rankings)), DisjointSets[str]()
    for hit in hits:
        if hit.publication and hit.publication.doi:
            same.join(f"doi:{hit.publication.doi}", canonicalize(hit.url) or hit.url)
    merged: dict[str, SearchHit] = {}
    for hit in hits:
        key = same.find(canonicalize(hit.url) or hit.url)
        if (first := merged.setdefault(key, hit)) is hit:
            continue
        work = first.publication.complete(hit.publication) if first.publication else hit.publication
        merged[key] = first.replace(
            title=first.title or hit.title,
            snippet=first.snippet or hit.snippet,
            published_at=first.published_at or hit.published_at,
            engine=", ".join(dict.fromkeys([*first.engine.split(", "), hit.engine])),
            publication=work,
        )
    found = [
        list(dict.fromkeys(same.find(canonicalize(hit.url) or hit.url) for hit in ranking))
        for ranking in rankings
    ]
    best = [merged[key] for key, _ in fuse_rankings(found)][:max_results]
    return [hit.replace(rank=n) for n, hit in enumerate(best, start=1)]
