"""Every way a run can leave: the formats by name, and one function that writes a run in one of them.

    write(bench, run_id, "bib")     # bytes, the same whether a screen or the command line asks

It gathers what a format needs from the workbench and hands it to the writer; it knows no format from inside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from agent import reply_config
from agent.api import build_collection
from agent.errors import BundleError, NotFound, UsageError
from agent.export import bundle, collected, sheets
from agent.export.bibtex import render_bibtex
from agent.export.csl import render_csl
from agent.export.graph import render_graphml
from agent.export.references import collect_references
from agent.export.report import Report
from agent.export.ris import render_ris
from agent.export.webpage import render_html
from agent.export.word import render_docx
from agent.types import Page, Status
from agent.workbench import Workbench

Writer = Callable[[Workbench, str], bytes]


@dataclass(frozen=True)
class ExportFormat:
    """One format: its name on the command line, what a person reads, the end of its files, its media type,
    who writes it.

    `kind` is what it is for. `binary` files are never written to a terminal; a format `of` one flow is
    offered for its runs alone."""

    name: str
    label: str
    description: str
    extension: str
    mime: str
    group: str
    write: Writer
    binary: bool = False
    flow: str = ""


def export_run(bench: Workbench, run_id: str, name: str) -> bytes:
    """The run in a format, as the bytes of a file. Raises NotFound, UsageError."""
    chosen = FORMATS.get(name)
    if chosen is None:
        raise UsageError(f"there is no format {name}; there are {', '.join(FORMATS)}")
    flow = bench.snapshot(run_id).run.settings.flow
    if chosen.flow not in ("", flow):
        raise UsageError(
            f"{chosen.label} is for runs of the kind {chosen.flow}; this one is of the kind {flow}"
        )
    return chosen.write(bench, run_id)


def list_formats(flow: str) -> list[ExportFormat]:
    """The formats for runs of a flow."""
    return [chosen for chosen in FORMATS.values() if chosen.flow in ("", flow)]


def find_page_ids(bench: Workbench, run_id: str) -> list[str]:
    """The ids of all stored pages that a run names anywhere in its ledger, in order, each once."""
    found: dict[str, None] = {}
    for step in bench.snapshot(run_id).steps:
        found |= dict.fromkeys(_walk_page_ids(step.change))
    return list(found)


def _walk_page_ids(value: Any) -> Iterator[str]:
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


def _load_pages(bench: Workbench, ids: list[str], *, raw: bool = False) -> tuple[dict[str, Page], list[str]]:
    """The pages that are stored, and the ids of those that are not."""
    found: dict[str, Page] = {}
    missing = []
    for name in dict.fromkeys(ids):
        try:
            found[name] = bench.store.pages.get(name, raw=raw)
        except NotFound:
            missing.append(name)
    return found, missing


def _load_report(bench: Workbench, run_id: str) -> Report:
    """The report with the pages it speaks of."""
    report = bench.report(run_id)
    ids = [ref.page_id for ref in report.all_pages if ref.page_id]
    return replace(report, stored_pages=_load_pages(bench, ids)[0])


def _write_bibliography(bench: Workbench, run_id: str, writer: Callable[[Any], str]) -> bytes:
    """A bibliography; of a collecting run with all it gathered."""
    report, state = _load_report(bench, run_id), bench.snapshot(run_id).state
    return writer(collect_references(report, state.own.extra_sources(state))).encode()


def _write_bundle(bench: Workbench, run_id: str) -> bytes:
    view = bench.snapshot(run_id)
    if view.run.status is Status.RUNNING:
        raise UsageError("the run is at work: pause it or let it come to rest, then its bundle can be made")
    pages, missing = _load_pages(bench, find_page_ids(bench, run_id), raw=True)
    contents = bundle.BundleContents(
        view.run, view.usage, view.steps, list(view.state.facts.values()), pages, bench.calls(run_id), missing
    )
    try:
        return bundle.write_bundle(contents, _list_secrets(bench))
    except BundleError as trouble:
        raise UsageError(str(trouble)) from trouble


def _list_secrets(bench: Workbench) -> list[str]:
    return [
        *bench.config.secrets,
        reply_config.read_response_config(bench.config).ai_response.llm.api_key.get_secret_value(),
    ]


def _write_json(bench: Workbench, run_id: str) -> bytes:
    return (json.dumps(bench.as_json(run_id), ensure_ascii=False, indent=1) + "\n").encode()


def _encode_with_bom(text: str) -> bytes:
    """A table as a file: with a byte order mark, so that a spreadsheet reads its letters right."""
    return text.encode("utf-8-sig")


READ, CHECK, TABLES, SOURCES = (
    "To read",
    "To check or go on with",
    "Tables and graph",
    "Sources, for a bibliography",
)
_DOCX_MIME = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_ALL = (
    ExportFormat(
        "md",
        "Markdown",
        "the report, for reading and notes",
        "md",
        "text/markdown",
        READ,
        lambda b, r: b.markdown(r).encode(),
    ),
    ExportFormat(
        "html",
        "Web page",
        "one file, opens offline, prints well",
        "html",
        "text/html",
        READ,
        lambda b, r: render_html(_load_report(b, r)).encode(),
    ),
    ExportFormat(
        "docx",
        "Word",
        "the report as a document",
        "docx",
        _DOCX_MIME,
        READ,
        lambda b, r: render_docx(_load_report(b, r)),
        binary=True,
    ),
    ExportFormat(
        "bundle",
        "Evidence bundle",
        "pages, quotes and prompts in one zip: can be verified, and opened on another machine",
        "touchstone.zip",
        "application/zip",
        CHECK,
        _write_bundle,
        binary=True,
    ),
    ExportFormat("json", "JSON", "the run as data", "json", "application/json", CHECK, _write_json),
    ExportFormat(
        "csv",
        "Facts (CSV)",
        "one fact a row",
        "facts.csv",
        "text/csv",
        TABLES,
        lambda b, r: _encode_with_bom(sheets.render_facts_csv(_load_report(b, r))),
    ),
    ExportFormat(
        "pages.csv",
        "Pages (CSV)",
        "one page a row",
        "pages.csv",
        "text/csv",
        TABLES,
        lambda b, r: _encode_with_bom(sheets.render_pages_csv(_load_report(b, r))),
    ),
    ExportFormat(
        "items.csv",
        "Articles and posts (CSV)",
        "one article or post a row",
        "items.csv",
        "text/csv",
        TABLES,
        lambda b, r: _encode_with_bom(collected.render_collection_csv(build_collection(b, r))),
        flow="collect",
    ),
    ExportFormat(
        "graphml",
        "Graph (GraphML)",
        "how the pages led to one another, for Gephi and yEd",
        "graphml",
        "application/xml",
        TABLES,
        lambda b, r: render_graphml(_load_report(b, r)),
    ),
    ExportFormat(
        "bib",
        "BibTeX",
        "for LaTeX and Zotero",
        "bib",
        "application/x-bibtex",
        SOURCES,
        lambda b, r: _write_bibliography(b, r, render_bibtex),
    ),
    ExportFormat(
        "ris",
        "RIS",
        "for Zotero, EndNote, Citavi",
        "ris",
        "application/x-research-info-systems",
        SOURCES,
        lambda b, r: _write_bibliography(b, r, render_ris),
    ),
    ExportFormat(
        "csl",
        "CSL-JSON",
        "for pandoc and Zotero",
        "csl.json",
        "application/json",
        SOURCES,
        lambda b, r: _write_bibliography(b, r, render_csl),
    ),
)
FORMATS = {chosen.name: chosen for chosen in _ALL}
"""Every format by its name."""
