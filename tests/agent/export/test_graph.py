"""The graph, read back by networkx and by an XML parser."""

from __future__ import annotations

import io
from dataclasses import replace

import networkx as nx
from lxml import etree

from agent.export.graph import render_graphml
from agent.types import Action, PageRef
from tests.web.reports import TITLES, one_line, report


def test_every_page_and_search_is_a_node_and_titles_come_back():
    graph = nx.read_graphml(io.BytesIO(render_graphml(report())))
    kinds = [data["kind"] for _, data in graph.nodes(data=True)]
    assert (kinds.count("page"), kinds.count("search"), kinds.count("question")) == (len(TITLES) + 1, 1, 1)
    for n, title in enumerate(TITLES, 1):
        node = graph.nodes[f"https://site{n}.example/a_b/{n}?q=ä&x=1"]
        assert one_line(node["label"]) == (one_line(title) or node["url"])
        assert (
            node["read"] is True
            and node["cited"] is True
            and node["facts"] == 1
            and len(node["sha256"]) == 64
        )
    gone = graph.nodes["https://gone.example/"]
    assert gone["outcome"] == "not_found" and gone["read"] is False
    assert all(node == "question" or graph.in_degree(node) for node in graph), "each was found somewhere"


def test_links_between_known_pages_are_edges_of_their_own():
    given = report([])
    a, b = (
        PageRef(url="https://a.example/", links=["https://b.example/", "https://unknown.example/"]),
        PageRef(url="https://b.example/"),
    )
    graph = nx.read_graphml(io.BytesIO(render_graphml(replace(given, pages=[a, b]))))
    assert (
        graph.edges["https://a.example/", "https://b.example/"]["found"] is False
        and "https://unknown.example/" not in graph
    )


def test_it_is_sound_xml_whatever_a_page_is_called_and_always_the_same():
    given = report(["\x00\x0b\ufffe ]]> <!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]> &y; \ud800"])
    body = render_graphml(given)
    etree.fromstring(body, etree.XMLParser(resolve_entities=False))
    assert b"<!DOCTYPE" not in body and body == render_graphml(given)


def test_steps_have_the_numbers_that_a_person_sees():
    search = Action(step=4, action="search_duckduckgo", query_or_url="cheese")
    read = Action(step=7, action="crawl_url", query_or_url="https://a.example/")
    given = replace(report([]), actions=[search, read], pages=[PageRef(url="https://a.example/", step=7)])
    graph = nx.read_graphml(io.BytesIO(render_graphml(given)))
    assert (graph.nodes["search: cheese"]["step"], graph.nodes["https://a.example/"]["step"]) == (1, 2)
