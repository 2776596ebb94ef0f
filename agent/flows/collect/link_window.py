"""Which links of a page a prompt shows, when it has more than fit. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence

from agent.roles.collect import rank_age, score_links
from agent.types.collection import CollectIntent, LinkCandidate


def choose_links(
    intent: CollectIntent, links: Sequence[LinkCandidate], limit: int
) -> tuple[list[LinkCandidate], int]:
    """The links that are shown, in the order of the page, and how many are left out: first go those that are
    neither about the section, topic or writer nor dated nor outside of menus."""
    wanted = intent.replace(topic=f"{intent.target_section} {intent.topic}")
    scores = score_links(wanted, links)

    def rank(n: int) -> tuple[float, bool, bool, tuple[str, int], int]:
        link = links[n]
        age = rank_age(link) if intent.newest else ("", 0)
        return scores[n], bool(link.date), link.content, age, -n

    best = sorted(range(len(links)), key=rank, reverse=True)[:limit]
    return [links[n] for n in sorted(best)], max(0, len(links) - limit)
