"""Reads exports of runs as the texts that they are for who checks them."""

from __future__ import annotations

from agent.actions.export import export_run
from agent.flows.check_text.split_text import split_text
from agent.types import Answer, TextSentence
from agent.web.extract import documents
from agent.workbench import Workbench

FORMATS = ("md", "docx")


def find_faults(bench: Workbench) -> list[str]:
    """What is not as it should be in the files of all runs that came to an answer: each sentence of it is one
    claim with its own sources, and no heading, quote, reference or caption is a claim."""
    faults = []
    for run in bench.store.ledger.list(limit=100):
        answer = bench.snapshot(run.id).state.answer
        if not answer or not answer.sentences or run.settings.flow in ("check_text", "reply"):
            continue
        for name in FORMATS:
            page = documents.read_document(f"a.{name}", export_run(bench, run.id, name))
            sentences = split_text(page, documents.find_anchors(page))
            faults += [f"{name}, {run.question}: {told}" for told in compare(answer, sentences)]
    return faults


def compare(answer: Answer, read: list[TextSentence]) -> list[str]:
    """How the text that was read differs from its answer."""
    tables = {block.id for block in answer.blocks if block.kind == "table"}
    no_claims = {block.text for block in answer.blocks if block.kind in ("heading", "table", "chart")}
    no_claims |= {answer.title} | {source.title for source in answer.sources}
    claims = [one for one in read if one.kind in ("claim", "question")]
    faults = []
    for said in answer.main_sentences:
        text = " ".join(said.text.split())
        if said.block in tables:
            faults += [f"no row with {text}"] * (not any(text in one.text for one in claims))
            continue
        found = [one for one in claims if one.text == text]
        wanted = {source.url for source in answer.sources if source.n in answer.citation_numbers(said)}
        wanted = {url for url in wanted if url.startswith("http")}
        if len(found) != 1 or {*found[0].urls} != wanted:
            faults.append(f"{text} {wanted}: read as {[(one.text, one.urls) for one in found]}")
    written = {said.text for said in answer.main_sentences}
    no_claims -= written
    strange = [
        one.text
        for one in claims
        if one.text in no_claims or (one.text not in written and one.text[0] in "“(")
    ]
    return faults + [f"a claim is {text}" for text in strange]
