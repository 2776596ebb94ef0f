"""Every way a run can leave: the formats by name, and one function that writes a run in one of them.

    write(bench, run_id, "bib")     # bytes, the same whether a screen or the command line asks

It gathers what a format needs from the workbench and hands it to the writer; it knows no format from inside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from agent import response_config
from agent.collecting import collection
from agent.errors import BundleError, NotFound, UsageError
from agent.export import bundle, collected, sheets
from agent.export.bibtex import bibtex
from agent.export.csl import csl
from agent.export.graph import graphml
from agent.export.references import references
from agent.export.report import Report
from agent.export.ris import ris
from agent.export.webpage import webpage
from agent.export.word import docx
from agent.flows.collect_state import Collect
from agent.types import Page, PageRef, Status
from agent.workbench import Workbench

Writer = Callable[[Workbench, str], bytes]


@dataclass(frozen=True)
class Format:
    """One format: its name on the command line, what a person reads, the end of its files, its media type, who writes it.

    `kind` is what it is for. `binary` files are never written to a terminal; a format `of` one flow is offered for its runs alone.
    """

    name: str
    label: str
    about: str
    end: str
    mime: str
    kind: str
    write: Writer
    binary: bool = False
    of: str = ""


def write(bench: Workbench, run_id: str, name: str) -> bytes:
    """The run in a format, as the bytes of a file. Raises NotFound, UsageError."""
    chosen = FORMATS.get(name)
    if chosen is None:
        raise UsageError(f"there is no format {name}; there are {', '.join(FORMATS)}")
    flow = bench.view(run_id).run.settings.flow
    if chosen.of not in ("", flow):
        raise UsageError(f"{chosen.label} is for runs of the kind {chosen.of}; this one is of the kind {flow}")
    return chosen.write(bench, run_id)


def offered(flow: str) -> list[Format]:
    """The formats for runs of a flow."""
    return [chosen for chosen in FORMATS.values() if chosen.of in ("", flow)]


def page_ids(bench: Workbench, run_id: str) -> list[str]:
    """The ids of all stored pages that a run names anywhere in its ledger, in order, each once."""
    found: dict[str, None] = {}
    for step in bench.view(run_id).steps:
        found |= dict.fromkeys(_named(step.change))
    return list(found)


def _named(value: Any) -> Iterator[str]:
    """What stands under `page_id` and `page_ids`, however deep."""
    left = [value]
    while left:
        at = left.pop()
        if isinstance(at, list):
            left += reversed(at)
        elif isinstance(at, dict):
            named = [at.get("page_id"), *(at["page_ids"] if isinstance(at.get("page_ids"), list) else ())]
            yield from (name for name in named if isinstance(name, str) and name)
            left += reversed([inner for inner in at.values() if isinstance(inner, dict | list)])


def _stored(bench: Workbench, ids: list[str], *, raw: bool = False) -> tuple[dict[str, Page], list[str]]:
    """The pages that are stored, and the ids of those that are not."""
    found: dict[str, Page] = {}
    missing = []
    for name in dict.fromkeys(ids):
        try:
            found[name] = bench.store.pages.get(name, raw=raw)
        except NotFound:
            missing.append(name)
    return found, missing


def _report(bench: Workbench, run_id: str) -> Report:
    """The report with the pages it speaks of."""
    report = bench.report(run_id)
    ids = [ref.page_id for ref in report.all_pages if ref.page_id]
    return replace(report, stored=_stored(bench, ids)[0])


def _referred(bench: Workbench, run_id: str, writer: Callable[[Any], str]) -> bytes:
    """A bibliography; of a collecting run with all it gathered."""
    report, state = _report(bench, run_id), bench.view(run_id).state
    kept = state.kept if isinstance(state, Collect) else []
    extra = [PageRef(url=item.url, title=item.title, page_id=item.page_ids[0] if item.page_ids else "") for item in kept]
    return writer(references(report, extra)).encode()


def _bundle(bench: Workbench, run_id: str) -> bytes:
    view = bench.view(run_id)
    if view.run.status is Status.RUNNING:
        raise UsageError("the run is at work: pause it or let it come to rest, then its bundle can be made")
    pages, missing = _stored(bench, page_ids(bench, run_id), raw=True)
    contents = bundle.Contents(view.run, view.usage, view.steps, list(view.state.facts.values()), pages, bench.calls(run_id), missing)
    try:
        return bundle.write(contents, _secrets(bench))
    except BundleError as trouble:
        raise UsageError(str(trouble)) from trouble


def _secrets(bench: Workbench) -> list[str]:
    return [*bench.config.secrets, response_config.read(bench.config).ai_response.llm.api_key.get_secret_value()]


def _json(bench: Workbench, run_id: str) -> bytes:
    return (json.dumps(bench.as_json(run_id), ensure_ascii=False, indent=1) + "\n").encode()


def _marked(text: str) -> bytes:
    """A table as a file: with a byte order mark, so that a spreadsheet reads its letters right."""
    return text.encode("utf-8-sig")


READ, CHECK, TABLES, SOURCES = "To read", "To check or go on with", "Tables and graph", "Sources, for a bibliography"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_ALL = (
    Format("md", "Markdown", "the report, for reading and notes", "md", "text/markdown", READ, lambda b, r: b.markdown(r).encode()),
    Format("html", "Web page", "one file, opens offline, prints well", "html", "text/html", READ, lambda b, r: webpage(_report(b, r)).encode()),
    Format("docx", "Word", "the report as a document", "docx", _WORD, READ, lambda b, r: docx(_report(b, r)), binary=True),
    Format("bundle", "Evidence bundle", "pages, quotes and prompts in one zip: can be verified, and opened on another machine", "touchstone.zip",
           "application/zip", CHECK, _bundle, binary=True),
    Format("json", "JSON", "the run as data", "json", "application/json", CHECK, _json),
    Format("csv", "Facts (CSV)", "one fact a row", "facts.csv", "text/csv", TABLES, lambda b, r: _marked(sheets.facts(_report(b, r)))),
    Format("pages.csv", "Pages (CSV)", "one page a row", "pages.csv", "text/csv", TABLES, lambda b, r: _marked(sheets.pages(_report(b, r)))),
    Format("items.csv", "Articles and posts (CSV)", "one article or post a row", "items.csv", "text/csv", TABLES,
           lambda b, r: _marked(collected.table(collection(b, r))), of="collect"),
    Format("graphml", "Graph (GraphML)", "how the pages led to one another, for Gephi and yEd", "graphml", "application/xml", TABLES,
           lambda b, r: graphml(_report(b, r))),
    Format("bib", "BibTeX", "for LaTeX and Zotero", "bib", "application/x-bibtex", SOURCES, lambda b, r: _referred(b, r, bibtex)),
    Format("ris", "RIS", "for Zotero, EndNote, Citavi", "ris", "application/x-research-info-systems", SOURCES, lambda b, r: _referred(b, r, ris)),
    Format("csl", "CSL-JSON", "for pandoc and Zotero", "csl.json", "application/json", SOURCES, lambda b, r: _referred(b, r, csl)),
)  # fmt: skip
FORMATS = {chosen.name: chosen for chosen in _ALL}
"""Every format by its name."""
