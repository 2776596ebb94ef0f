"""The export formats by name, and one function that writes a run in one of them.

    export_run(bench, run_id, "bib")     # the bytes of a file

It collects what a format needs and passes it to the writer in agent.export."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agent.actions.budget import read_meters
from agent.actions.commit import ActionContext
from agent.actions.conflict_rulings import active_conflicts
from agent.actions.new_since import find_new
from agent.actions.release import release
from agent.answering import fact_view
from agent.errors import BundleError, NotFound, UsageError
from agent.export import bundle, collected, sheets
from agent.export.collected import CollectionResult
from agent.export.graph import render_graphml
from agent.export.hiding import is_withheld
from agent.export.markdown import render_evidence_markdown, render_markdown
from agent.export.record import build_run_record
from agent.export.references import collect_references, render_bibtex, render_csl, render_ris
from agent.export.report import Report, drop_withheld
from agent.export.webpage import render_html
from agent.export.word import render_docx
from agent.settings import reply_config
from agent.text.plurals import format_count
from agent.types import Status
from agent.types.collection import CollectedItem

Writer = Callable[[ActionContext, str], str | bytes]
Gather = Callable[[ActionContext, str], Any]


@dataclass(frozen=True)
class ExportFormat:
    """One format: its name on the command line, its label and description, the suffix and media type of its
    files, its group, and its writer. `binary` files are never written to a terminal; a format with a `flow`
    is for runs of that flow only."""

    name: str
    label: str
    description: str
    extension: str
    mime: str
    group: str
    write: Writer
    binary: bool = False
    flow: str = ""


def export_run(bench: ActionContext, run_id: str, name: str) -> bytes:
    """The run in a format, as the bytes of a file. Raises NotFound, UsageError."""
    chosen = FORMATS.get(name)
    if chosen is None:
        raise UsageError(f"there is no format {name}; there are {', '.join(FORMATS)}")
    flow = bench.snapshot(run_id).run.settings.flow
    if chosen.flow not in ("", flow):
        raise UsageError(f"{chosen.label} is for {chosen.flow} runs; this is a {flow} run")
    made = chosen.write(bench, run_id)
    # spreadsheets read a table as UTF-8 by its byte order mark
    encoding = "utf-8-sig" if chosen.mime == _CSV else "utf-8"
    return made.encode(encoding) if isinstance(made, str) else made


def list_formats(flow: str) -> list[ExportFormat]:
    """The formats for runs of a flow."""
    return [chosen for chosen in FORMATS.values() if chosen.flow in ("", flow)]


def find_page_ids(bench: ActionContext, run_id: str) -> list[str]:
    """The ids of all pages that the steps of a run name, in order, each once."""
    return list(dict.fromkeys(_walk_page_ids([step.change for step in bench.snapshot(run_id).steps])))


def _walk_page_ids(value: Any) -> Iterator[str]:
    """The values of `page_id` and `page_ids` at any depth."""
    if isinstance(value, dict):
        ids = value.get("page_ids")
        named = [value.get("page_id"), *(ids if isinstance(ids, list) else ())]
        yield from (name for name in named if isinstance(name, str) and name)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _walk_page_ids(inner)


def build_report(bench: ActionContext, run_id: str) -> Report:
    """Everything a report needs of a run, as it may leave, with the pages it names."""
    view, _ = release(bench, run_id)
    state = view.state
    carried = ("plan", "confidence", "actions", "refusals", "blockages", "readings", "edits")
    report = Report(
        run=view.run,
        answer=state.answer,
        checked=state.own.checked_text(state),
        former_answers=state.answers[:-1],
        notes=[note for note in state.notes if not note.private],
        facts=fact_view.all_facts(state),
        conflicts=active_conflicts(state),
        pages=list(state.pages.values()),
        usage=view.usage,
        steps=view.steps,
        struck_sources=list(state.strikes),
        stored_pages={},
        gathered=state.own.extra_sources(state),
        **{name: getattr(state, name) for name in carried},
    )
    page_ids = [ref.page_id for ref in (*report.all_pages, *report.gathered) if ref.page_id]
    return replace(report, stored_pages=bench.store.pages.get_many(page_ids)[0])


def describe_withheld(bench: ActionContext, run_id: str) -> str:
    """For the owner of the run: how many sentences of its answer do not leave, and why; "" for none."""
    answer = release(bench, run_id)[0].state.answer
    count = sum(is_withheld(said.text) for said in answer.sentences) if answer else 0
    stay = format_count(count, "sentence of the answer stays", "sentences of the answer stay")
    why = "a model wrote this from a private note, and no quote supports it or it has words of the note"
    return f"{stay} here: {why}." if count else ""


def build_record(bench: ActionContext, run_id: str) -> dict[str, Any]:
    """The run as the object that `--json` writes."""
    view, _ = release(bench, run_id)
    extra: dict[str, Any] = view.state.own.export_extra(view.state, bench.store.pages.read_text)
    if view.state.follows:
        extra["new_since"] = find_new(bench, run_id).model_dump()
    extra["budget"] = [meter.model_dump() for meter in read_meters(bench, view)]
    return build_run_record(build_report(bench, run_id)) | extra


def build_collection(bench: ActionContext, run_id: str) -> CollectionResult:
    """What a run has gathered so far, articles with their whole text. Raises NotFound, and UsageError for
    another flow."""
    view, _ = release(bench, run_id)
    state = view.state
    if view.run.settings.flow != "collect":
        raise UsageError(f"run {run_id} collected nothing: it is a {view.run.settings.flow} run")
    kept = [item.replace(content=read_item_text(bench, item)) for item in state.own.timely_items]
    return CollectionResult(
        run=view.run,
        intent=state.own.intent,
        items=kept,
        dropped=[item for item in state.own.items.values() if item.status == "dropped"],
        tree=sorted(state.own.tree.values(), key=lambda branch: branch.path),
        answer=state.answer and drop_withheld(state.answer),
        usage=view.usage,
        refusals=state.refusals,
        events=state.own.events,
    )


def read_item_text(bench: ActionContext, item: CollectedItem) -> str:
    """An article's text: the extracted one, or its piece of the stored page."""
    if item.content or item.kind != "article" or not item.page_ids:
        return item.content
    return item.cut_text(bench.store.pages.get(item.page_ids[0]).text).strip()


def _write_bundle(bench: ActionContext, run_id: str) -> bytes:
    """The bundle; in place of each text that may not leave stands a commitment, whose salt stays here."""
    name = f"salt:{run_id}"
    salt = bench.store.draft(name) or bench.store.draft(name, secrets.token_hex(32))
    view, calls = release(
        bench, run_id, lambda text: f"[withheld: sha256:{hashlib.sha256((salt + text).encode()).hexdigest()}]"
    )
    calls = calls or bench.store.calls.list_for_run(run_id)
    if view.run.status is Status.RUNNING:
        raise UsageError("the run is at work: pause it or let it finish, then export the bundle")
    pages, missing = bench.store.pages.get_many(find_page_ids(bench, run_id), raw=True)
    facts, summary = list(view.state.facts.values()), view.state.summary()
    run = view.run.replace(verdict=summary["verdict"], confidence=summary["confidence"])
    contents = bundle.BundleContents(run, view.usage, view.steps, facts, pages, calls, missing)
    try:
        own = reply_config.read_response_config(bench.config).ai_response.llm.api_key.get_secret_value()
        return bundle.write_bundle(contents, [*bench.config.secrets, own])
    except BundleError as error:
        raise UsageError(str(error)) from error


@dataclass(frozen=True)
class SharedRun:
    """A run as its guests see it: the question, and the answer as one HTML document."""

    question: str
    document: str


def render_shared_run(bench: ActionContext, run_id: str) -> SharedRun:
    """The run for its guests. Raises NotFound, also for a run in the bin."""
    report = build_report(bench, run_id)
    if bench.store.ledger.is_deleted(run_id):
        raise NotFound("there is no such shared run")
    return SharedRun(report.run.question, render_html(report.to_read))


def _write(
    render: Callable[[Any], str | bytes], gather: Gather, bench: ActionContext, run_id: str
) -> str | bytes:
    return render(gather(bench, run_id))


SEND, DATA = "To send", "Evidence and data"
"""The groups of the formats, in the order of a menu."""
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_MD, _WEB, _CSV, _ZIP = "text/markdown", "text/html", "text/csv", "application/zip"
_EVIDENCE, _ITEMS = "the report with its facts, journey and checks", "one article or post a row"
_BUNDLE = "pages, quotes and prompts in one zip: can be verified, and imported on another machine"
_GRAPH = "how the pages led to one another, for Gephi and yEd"
_md, _html, _docx = (
    partial(_write, render, lambda bench, run_id: build_report(bench, run_id).to_read)  # the answer alone
    for render in (render_markdown, render_html, render_docx)
)
_facts, _pages, _evidence, _graph = (
    partial(_write, render, build_report)
    for render in (sheets.render_facts_csv, sheets.render_pages_csv, render_evidence_markdown, render_graphml)
)
_items = partial(_write, collected.render_collection_csv, build_collection)
_json = partial(_write, lambda told: json.dumps(told, ensure_ascii=False, indent=1) + "\n", build_record)
_bib, _ris, _csl = (  # those of a collecting run list all it gathered
    partial(_write, render, lambda *run: collect_references(report := build_report(*run), report.gathered))
    for render in (render_bibtex, render_ris, render_csl)
)
_ALL = (
    ExportFormat("md", "Markdown", "the answer with its references, to paste", "md", _MD, SEND, _md),
    ExportFormat("html", "Web page", "one file, opens offline, prints well", "html", _WEB, SEND, _html),
    ExportFormat(
        "docx", "Word", "the answer with its references as a document", "docx", _WORD, SEND, _docx, True
    ),
    ExportFormat("evidence.md", "Markdown with evidence", _EVIDENCE, "evidence.md", _MD, DATA, _evidence),
    ExportFormat("bundle", "Evidence bundle", _BUNDLE, "touchstone.zip", _ZIP, DATA, _write_bundle, True),
    ExportFormat("json", "JSON", "the run as data", "json", "application/json", DATA, _json),
    ExportFormat("csv", "Facts (CSV)", "one fact a row", "facts.csv", _CSV, DATA, _facts),
    ExportFormat("pages.csv", "Pages (CSV)", "one page a row", "pages.csv", _CSV, DATA, _pages),
    ExportFormat(
        "items.csv", "Articles and posts (CSV)", _ITEMS, "items.csv", _CSV, DATA, _items, False, "collect"
    ),
    ExportFormat("graphml", "Graph (GraphML)", _GRAPH, "graphml", "application/xml", DATA, _graph),
    ExportFormat("bib", "BibTeX", "for LaTeX and Zotero", "bib", "application/x-bibtex", DATA, _bib),
    ExportFormat(
        "ris", "RIS", "for Zotero, EndNote, Citavi", "ris", "application/x-research-info-systems", DATA, _ris
    ),
    ExportFormat("csl", "CSL-JSON", "for pandoc and Zotero", "csl.json", "application/json", DATA, _csl),
)
FORMATS = {chosen.name: chosen for chosen in _ALL}
"""Every format by its name."""
