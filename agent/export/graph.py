"""The graph of a run as GraphML: the question, its searches, every page, and which led to which.

Nodes are named by their address ("search: …" for a search, "question" for the start). An edge with `found`
true leads from where an address was found to the page; the others are links between pages of the run."""

from __future__ import annotations

from io import BytesIO

from agent.export.escaping import clean_xml
from agent.export.report import Report
from agent.text.urls import site
from agent.types import Outcome
from agent.types.facts import number_step

QUESTION_NODE = "question"


def render_graphml(report: Report) -> bytes:
    """The file (UTF-8). The same run gives the same bytes."""
    import networkx as nx  # takes half a second to import

    graph = nx.DiGraph()
    graph.add_node(QUESTION_NODE, kind="question", label=clean_xml(report.run.question), step=0)
    for action in report.actions:
        if action.is_search:
            words, step = clean_xml(action.query_or_url), number_step(report.actions, action.step)
            name, came = f"search: {words}", {"outcome": str(action.outcome), "hits": action.hits}
            graph.add_node(name, kind="search", label=words, step=step, **came)
            graph.add_edge(QUESTION_NODE, name, found=True)
    cited = {
        name
        for source in (report.answer.sources if report.answer else ())
        for name in (source.page_id, source.url)
        if name
    }
    pages = report.all_pages
    for ref in pages:
        page = report.stored_pages.get(ref.page_id)
        graph.add_node(
            clean_xml(ref.url),
            kind="page",
            label=clean_xml(ref.title or (page.title if page else "") or ref.url),
            url=clean_xml(ref.final_url or ref.url),
            site=clean_xml(site(ref.url)),
            outcome=str(ref.outcome),
            read=ref.outcome is Outcome.OK and bool(ref.page_id),
            facts=ref.facts,
            cited=bool(cited & {ref.page_id, ref.url, ref.final_url}),
            step=number_step(report.actions, ref.step),
            fetched=clean_xml(page.fetched_at) if page else "",
            sha256=page.sha256 if page else "",
            came=ref.origin,
        )
    for ref in pages:
        origin, url = clean_xml(ref.found_on), clean_xml(ref.url)
        graph.add_edge(origin if origin in graph and origin != url else QUESTION_NODE, url, found=True)
    for ref in pages:
        for url, link in ((clean_xml(ref.url), clean_xml(link)) for link in ref.links):
            if link in graph and not graph.has_edge(url, link):
                graph.add_edge(url, link, found=False)
    out = BytesIO()
    nx.write_graphml_xml(graph, out, encoding="utf-8", prettyprint=True)
    return out.getvalue()
