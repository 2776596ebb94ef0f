"""The steps of `verify_again`: each returns a change and the name of the next step. No model is asked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import get_args

from agent.answering.pages import build_crawl, content_passages, store_fetched
from agent.engine.context import MAX_PARALLEL_FETCHES, RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.errors import BudgetSpent
from agent.evidence.citation_check import collect_sources, count_statements
from agent.evidence.claims.words import align, read_text
from agent.evidence.quote_match import find_quote, verify_quote
from agent.flows.verify_again.state import QuoteStanding, Standing, VerifyAgainState
from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import rank_passages
from agent.text.plurals import format_count
from agent.text.tokens import content_stems
from agent.text.urls import canonicalize
from agent.types import Answer, AnswerBlock, Fact, Outcome, Page, Sentence
from agent.types.facts import cite_page, make_fact_id

VerifyAgainRun = RunState[VerifyAgainState]


def list_quotes(state: VerifyAgainRun, tools: RunContext) -> tuple[Change, str]:
    """List the quotes that the newest answer of the other run cites, each as a fact."""
    ledger, run_id = tools.store.ledger, state.settings.verifies
    steps = [] if ledger.is_deleted(run_id) else ledger.steps(run_id)
    answers = [answer for step in steps for answer in step.change.get("answers", ())]
    sources = Answer.model_validate(answers[-1]).sources if answers else []
    pages, _ = tools.store.pages.get_many(source.page_id for source in sources if source.page_id)
    facts = dict[str, Fact]()
    for source in (source for source in sources if source.page_id in pages):
        facts |= make_quotes(pages[source.page_id], source.page_id, source.page_quotes, tools.step)
    change: Change = {"facts": list(facts.values())}
    if not facts:
        change["why_stopped"] = f"run {run_id} has no answer with quotes of stored pages"
    return _go_on(state, change)


def make_quotes(page: Page, page_id: str, quotes: Iterable[str], step: int = 0) -> dict[str, Fact]:
    """The quotes of a page as facts by their ids, each with the headings it stands under."""
    facts = dict[str, Fact]()
    for quote in quotes:
        id, known = make_fact_id(page_id, quote, quote), cite_page(page)
        fact = Fact(id=id, statement=quote, quote=quote, page_id=page_id, by="code", step=step, **known)
        fact = verify_quote(fact, page.text, page.sha256)
        facts[id] = fact.replace(heading=_find_heading(page, fact.start))
    return facts


def _go_on(state: VerifyAgainRun, change: Change) -> tuple[Change, str]:
    now = state_after(state, change)
    return change, "fetch" if now.own.urls_to_fetch(now) else "result"


def _find_heading(page: Page, at: int) -> str:
    """The path of headings over a place of a page."""
    return next((one.heading for one in split_passages(page, "") if one.start <= at < one.end), "")


def fetch(state: VerifyAgainRun, tools: RunContext) -> tuple[Change, str]:
    """Fetch the next pages side by side, and look for their quotes."""
    limit, used = state.settings.max_pages, state.own.count_pages(state.actions_this_round)
    wave = state.own.urls_to_fetch(state)[: max(0, min(MAX_PARALLEL_FETCHES, limit - used))]
    if not wave:
        spent = f"the budget of {format_count(limit, 'page')} is used up"
        raise BudgetSpent(spent, cap="pages", used=used, limit=limit)
    change: Change = {"pages": [], "actions": [], "standings": []}
    for url, page in zip(wave, tools.fetch_many(wave), strict=True):
        cited = [fact for fact in state.facts.values() if canonicalize(fact.url) == canonicalize(url)]
        ref = store_fetched(tools, url, page, "")
        change["pages"].append(ref)
        change["actions"].append(build_crawl(ref, f"Cited for {format_count(len(cited), 'quote')}."))
        change["standings"] += [compare(fact, page, ref.page_id) for fact in cited]
    return _go_on(state, change)


def compare(fact: Fact, page: Page, page_id: str) -> QuoteStanding:
    """How the quote of a fact stands on its page as it was fetched now."""
    if page.outcome is not Outcome.OK:
        is_gone = page.outcome is Outcome.NOT_FOUND and fact.given == "fetched"
        standing: Standing = "gone" if is_gone else "not_read"
        return QuoteStanding(id=fact.id, standing=standing, now=page.detail)
    is_here = canonicalize(page.final_url) == canonicalize(fact.url)
    where = "" if is_here else f"The address leads to {page.final_url}. "
    told = QuoteStanding(id=fact.id, standing="moved", now_url=page.final_url, now_page_id=page_id)
    if span := find_quote(fact.quote, page.text):
        if (heading := _find_heading(page, span.start)) == fact.heading and is_here:
            return told.replace(standing="stands")
        below = "" if heading == fact.heading else f"Under “{heading}”." if heading else "Under no heading."
        return told.replace(now=f"{where}{below}".strip())
    near = rank_passages(fact.quote, content_passages(page, page_id), 2)
    closest, _ = align(read_text(fact.quote), [read_text(one.text) for one in near]) or ("", [])
    if not set(content_stems(fact.quote)) & set(content_stems(closest)):
        return told.replace(standing="changed", now=f"{where}Nothing like it is there.")
    return told.replace(standing="changed", now=f"{where}Nearest: “{closest}”", nearest=closest)


def result(state: VerifyAgainRun, tools: RunContext) -> tuple[Change, str]:
    """Sum up: the quotes by how they stand, those that no longer do first."""
    left, why = list[QuoteStanding](), state.why_stopped or "the run was ended early"
    for fact in (fact for fact in state.facts.values() if fact.id not in state.own.standings):
        now = f"Not asked for: {why}." if canonicalize(fact.url) else "It is no page of the web."
        left.append(QuoteStanding(id=fact.id, standing="not_read", now=now))
    own, order = state_after(state, {"standings": left}).own, get_args(Standing)
    shown = sorted(own.standings.values(), key=lambda one: order.index(one.standing))
    checks = {"stands": "quoted", "moved": "quoted", "changed": "not_supported"}
    blocks, sentences = list[AnswerBlock](), list[Sentence]()
    for name, group in groupby(shown, lambda one: one.name):
        blocks.append(AnswerBlock(id=f"b{len(blocks)}", kind="heading", text=name, by_code=True))
        for one in group:
            fact, check = state.facts[one.id], checks.get(one.standing, "not_checked")
            said = Sentence(
                text=fact.quote, fact_ids=[one.id], backed=check == "quoted", block=f"b{len(blocks)}"
            )
            sentences.append(said.replace(check=check, check_reason=one.now * (not said.backed)))
            blocks.append(AnswerBlock(id=said.block, kind="list", role="passage"))
            lines = [one.now] if one.now else []
            blocks += [AnswerBlock(id=f"b{len(blocks)}", by_code=True, lines=lines)] if lines else []
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="checked" if shown else "no_evidence",
        reason="none" if shown else "not_covered",
        sentences=sentences,
        certainty=own.summarize() if shown else f"Nothing to verify: {why}.",
        sources=collect_sources(sentences, state.facts),
        statements=count_statements(sentences),
        blocks=blocks,
        why_stopped=state.why_stopped if shown else "",
        by="code",
        step=tools.step,
    )
    return {"standings": left, "answers": [answer], "why_stopped": "", "stop_reason": ""}, "done"


def describe_step(name: str, change: Change) -> str:
    """What the step did; "" when there is nothing to report."""
    if name == "fetch":
        read = sum(bool(ref["page_id"]) for ref in change["pages"])
        return f"{read} of {format_count(len(change['pages']), 'page')} read"
    return str(change["answers"][0]["certainty"]) if change.get("answers") else ""
