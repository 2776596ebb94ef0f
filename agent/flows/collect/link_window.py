"""Which links of a page a prompt shows, when it has more than fit. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence

from agent.retrieval.term_coverage import stem_prefixes
from agent.types.collection import CollectIntent, LinkCandidate


def choose_links(
    intent: CollectIntent, links: Sequence[LinkCandidate], limit: int
) -> tuple[list[LinkCandidate], int]:
    """The links that are shown, in the order of the page, and how many are left out: first go those that are
    neither about the section or topic nor dated nor outside of menus."""
    wanted = stem_prefixes(intent.target_section, intent.topic)

    def rank(n: int) -> tuple[int, bool, bool, int]:
        link = links[n]
        words = stem_prefixes(link.text, link.context, link.url.replace("-", " ").replace("/", " "))
        return -len(wanted & words), not link.date, not link.content, n

    best = sorted(range(len(links)), key=rank)[:limit]
    return [links[n] for n in sorted(best)], max(0, len(links) - limit)
