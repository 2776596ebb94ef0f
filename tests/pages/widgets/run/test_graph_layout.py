"""The map's places: the same for the same pages, and never moved by a newcomer."""

from __future__ import annotations

import math
import random

from pages.widgets.run import graph_layout


def _web(count: int) -> list[tuple[str, str]]:
    chance = random.Random(5)
    return [(f"n{i}", f"n{chance.randrange(i)}" if i else "") for i in range(count)]


def test_a_new_page_moves_none():
    nodes = _web(40)
    before = graph_layout.assign_positions(graph_layout.build_graph(nodes[:-5], []))
    after = graph_layout.assign_positions(graph_layout.build_graph(nodes, [("n39", "n1")]))
    assert {name: after[name] for name in before} == before


def test_no_two_nodes_lie_upon_one_another():
    where = list(graph_layout.assign_positions(graph_layout.build_graph(_web(120), [])).values())
    assert min(math.dist(a, b) for i, a in enumerate(where) for b in where[:i]) > 0.2
