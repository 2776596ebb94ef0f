"""Where the nodes of the map of pages stand. Pure: the same pages in the same order give the same places, and
a new one moves none.

A force layout would shift the whole picture at each page; here every newcomer takes the freest place around
the node it was found on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx


Position = tuple[float, float]

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
"""The golden angle in radians: candidates turned by it never fall onto one another."""
ANGLES_PER_RING = 18
RING_RADII = (1.0, 1.7, 2.6)
"""Distances from the parent that are tried, in units of the usual edge."""


def build_graph(nodes: Iterable[tuple[str, str]], links: Iterable[tuple[str, str]]) -> nx.DiGraph:
    """The graph of (node, found on) pairs in order of discovery, and further links of known nodes."""
    import networkx as nx  # heavy: imported where it is used first

    drawn = nx.DiGraph()
    for name, parent in nodes:
        drawn.add_node(name)
        if parent and parent != name and parent in drawn:
            drawn.add_edge(parent, name, found=True)
    for one, other in links:
        if one in drawn and other in drawn and one != other and not drawn.has_edge(one, other):
            drawn.add_edge(one, other, found=False)
    return drawn


def assign_positions(drawn: nx.DiGraph) -> dict[str, Position]:
    """A place for each node, in the order they were added."""
    places: dict[str, Position] = {}
    for index, name in enumerate(drawn.nodes):
        parents = [p for p in drawn.predecessors(name) if p in places and drawn.edges[p, name]["found"]]
        places[name] = (
            _find_freest(places, places[parents[0]], index)
            if parents
            else _find_freest(places, (0.0, 0.0), index)
            if places
            else (0.0, 0.0)
        )
    return places


def _find_freest(places: dict[str, Position], parent: Position, index: int) -> Position:
    """Of the places around the parent, the one furthest from everybody; near ones are preferred."""
    best, best_room = parent, -1.0
    outwards = math.atan2(parent[1], parent[0]) if parent != (0.0, 0.0) else index * GOLDEN_ANGLE
    for ring in RING_RADII:
        for turn in range(ANGLES_PER_RING):
            angle = outwards + (turn + 1) // 2 * (1 if turn % 2 else -1) * (2 * math.pi / ANGLES_PER_RING)
            x, y = parent[0] + ring * math.cos(angle), parent[1] + ring * math.sin(angle)
            room = min(math.hypot(x - a, y - b) for a, b in places.values()) - 0.25 * (ring - 1)
            if room > best_room + 1e-9:
                best, best_room = (x, y), room
        if best_room >= 0.85:
            break
    return best
