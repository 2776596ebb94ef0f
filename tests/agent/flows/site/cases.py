"""What the tests of the site flow ask, and the sites and models they ask it of."""

from __future__ import annotations

from typing import Any

from agent.types import SiteLimits
from tests.web.folders import page, write_world

START, RETURNS = "https://kallsteg.example/", "https://kallsteg.example/support/returns"
SEED_WAVES = SiteLimits(crawl_ahead=0, max_iterations=1, max_urls_per_iteration=1)
"""What was chosen is read, and nothing ahead of it."""
PLAIN = {"Content-Type": "text/plain"}
QUESTION = "How do I return a Kallsteg C2 logger?"


def garden(tmp_path: Any, count: int = 30) -> str:
    """A site of pages about beds of a garden, none of which says when the gate opens."""
    docs = [
        page(
            f"https://garden.example/beds/gate-{n}",
            f"Bed {n} beside the gate",
            f"In bed {n} there are {n} roses.",
        )
        for n in range(count)
    ]
    return write_world(tmp_path / "garden", docs)
