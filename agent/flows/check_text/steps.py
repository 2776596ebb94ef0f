"""The steps of `check_text`: each returns a change and the name of the next step."""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.claim_checks import judge_sentences
from agent.answering.engine_choice import ANSWERED, cool_down
from agent.answering.open_access import read_open_copy
from agent.answering.page_refs import build_action, store_fetched
from agent.answering.passages import content_passages
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.errors import BudgetSpent
from agent.evidence.citation_check import check_support, collect_sources, count_statements
from agent.flows.check_text.evidence import SourceText, choose_evidence, choose_mark, find_closest
from agent.flows.check_text.split_text import MAX_SENTENCES, split_text
from agent.flows.check_text.state import CheckTextRun
from agent.roles.check_claims import FIND_CLAIMS, NumberedSentence
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, complete_typed_url
from agent.types import (
    ENGINE_BY_ACTION,
    Action,
    Answer,
    Fact,
    Outcome,
    PageRef,
    Proposal,
    SearchHit,
    Sentence,
    SentenceMark,
    TextSentence,
    rank_general,
)
from agent.web.extract import documents

WAVE = 8
"""Sources fetched in one step: what a kill repeats at most."""
SORTED_A_STEP = 120
"""Sentences that the model looks at in one call for what is no claim, about 4,000 tokens."""
CHECKED_A_STEP = 8
"""Claims checked in one step, about one call of the judge."""
SEARCHED_A_STEP, HITS_READ = 4, 3
"""Claims searched for in one step, and the results of each that are read."""
SEARCH_REASON = "A claim of the text cites no source."
MAX_QUERY_WORDS = 32
"""Words of a claim that are searched for: Google reads no more."""
MAX_CONTEXT_CHARS = 6_000
"""Characters of the text around the claims of a call, to tell whom a pronoun means."""


def _choose_next(state: CheckTextRun, tools: RunContext) -> str:
    """The step that has something to do."""
    own = state.own
    if not own.text_page:
        return "read"
    if tools.client and own.sorted_count < len(own.sentences):
        return "sort"
    if _list_wave(state) or (state.settings.at_cap == "ask" and own.urls_to_fetch(state)):
        return "fetch"
    if own.claims_to_search(state):
        return "search"
    return "check" if own.claims_to_check(state) else "result"


def read(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Read the text, given or by its address, and split it into sentences with what they cite."""
    page_id = state.settings.check_text.page_id
    address = complete_typed_url(state.question)
    refs: list[PageRef] = []
    if page_id:
        page = tools.page(page_id, raw=True)
    elif (supplied := state.own.find_ref(state, address)) and supplied.page_id:
        page_id, page = supplied.page_id, tools.page(supplied.page_id, raw=True)
    elif canonicalize(address):
        page = tools.fetch(address)
        refs = [store_fetched(tools, address, page, "person")]
        page_id = refs[0].page_id
    else:
        page = documents.read_document("text.md", state.question.encode())
        page = page.replace(title=" ".join(state.question.split())[:80], origin="given")
        page_id = tools.store.pages.put(page, shelve=False)
    if not page_id:
        return {"pages": refs, "why_stopped": page.detail, "stop_reason": "blocked"}, "result"
    sentences = split_text(page, documents.find_anchors(page))
    change: Change = {
        "pages": refs,
        "text_page": page_id,
        "text_url": page.final_url if canonicalize(page.final_url) else "",
        "title": page.title or state.question[:120],
        "sentences": sentences[:MAX_SENTENCES],
        "why_stopped": "",
    }
    if len(sentences) > MAX_SENTENCES:
        change["why_stopped"] = (
            f"the text has {len(sentences):,} sentences; the first {MAX_SENTENCES:,} are checked. Split it"
        )
    return change, _choose_next(state_after(state, change), tools)


def sort(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Let the model say which sentences state no fact."""
    own = state.own
    batch = list(own.sentences.values())[own.sorted_count : own.sorted_count + SORTED_A_STEP]
    shown = [NumberedSentence(n=n, text=one.text) for n, one in enumerate(batch, 1) if one.kind == "claim"]
    change: Change = {"sorted_count": own.sorted_count + len(batch)}
    if shown:
        named = set(tools.judge(FIND_CLAIMS, title=own.title, sentences=shown).value.no_claims)
        kinds = [batch[one.n - 1].replace(kind="opinion") for one in shown if one.n in named]
        change["sentences"] = kinds
    return change, _choose_next(state_after(state, change), tools)


def _list_wave(state: CheckTextRun) -> list[str]:
    """The addresses that are fetched next, within the page budget."""
    left = state.settings.check_text.max_pages - state.own.count_pages(state.actions_this_round)
    return state.own.urls_to_fetch(state)[: max(0, min(WAVE, left))]


def fetch(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Fetch the next sources side by side."""
    own, wave, limit = state.own, _list_wave(state), state.settings.check_text.max_pages
    spent = f"the budget of {format_count(limit, 'page')} is used up"
    if not own.urls_to_fetch(state):  # a person supplied a page, or asks for the text itself again
        return {}, _choose_next(state, tools)
    if not wave:
        raise BudgetSpent(spent, cap="pages", used=own.count_pages(state.actions_this_round), limit=limit)
    pages = [read_open_copy(tools, page) for page in tools.fetch_many(wave)]
    refs, actions = list[PageRef](), list[Action]()
    for url, page in zip(wave, pages, strict=True):
        name = canonicalize(url)
        citing = [one for one in own.claims if name in map(canonicalize, one.urls)]
        ref = store_fetched(tools, url, page, own.text_url or "person")
        how = "Found for" if citing and citing[0].found else "Cited by"
        why = f"{how} {format_count(len(citing), 'claim')}."
        proposal = Proposal(next_action="crawl_url", query_or_url=url, reasoning=why, by="code")
        refs.append(ref)
        actions.append(build_action(proposal, tools.step, page.outcome, page.detail, page_id=ref.page_id))
    change: Change = {"pages": refs, "actions": actions}
    now = state_after(state, change)
    if now.own.urls_to_fetch(now) and not _list_wave(now):
        change["why_stopped"] = spent
    return change, _choose_next(state_after(state, change), tools)


def search(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Search for claims that cite nothing; the first results are read as their sources."""
    batch = state.own.claims_to_search(state)[:SEARCHED_A_STEP]
    chosen, cooling = state.settings.engines or tools.world.engines, state.cooling
    found, actions = list[TextSentence](), list[Action]()
    for claim in batch:
        query = " ".join(claim.text.split()[:MAX_QUERY_WORDS])
        hits: list[SearchHit] = []
        trouble, now = "No search engine can be asked now", tools.now()
        usable = {
            f"search_{name}"
            for name in tools.world.engines
            if name in chosen and cooling.get(name, "") <= now
        }
        for name in rank_general(usable):
            result = tools.search(ENGINE_BY_ACTION[name], query)
            proposal = Proposal(next_action=name, query_or_url=query, reasoning=SEARCH_REASON, by="code")
            made = {"hits": len(result.hits)}
            actions.append(build_action(proposal, tools.step, result.outcome, result.detail, **made))
            cooling = cool_down(cooling, result)
            trouble = "" if result.outcome in ANSWERED else trouble and result.detail
            if hits := result.hits:
                break
        own = canonicalize(state.own.text_url)
        urls = [hit.url for hit in hits if canonicalize(hit.url) != own][:HITS_READ]
        found.append(claim.replace(found=urls, searched=True, search_trouble=trouble))
    change: Change = {"sentences": found, "actions": actions, "cooling": cooling}
    return change, _choose_next(state_after(state, change), tools)


def check(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Check the next claims against their sources."""
    change = _check_claims(state, tools, state.own.claims_to_check(state)[:CHECKED_A_STEP], is_judged=True)
    return change, _choose_next(state_after(state, change), tools)


def _check_claims(
    state: CheckTextRun, tools: RunContext, batch: Sequence[TextSentence], *, is_judged: bool
) -> Change:
    """The marks of these claims with their evidence; by code alone unless `is_judged`."""
    cited = {url: state.own.find_ref(state, url) for claim in batch for url in claim.urls}
    sources: dict[str, SourceText] = {}
    for ref in cited.values():
        if ref and ref.page_id and ref.page_id not in sources:
            page = tools.page(ref.page_id)
            sources[ref.page_id] = SourceText(ref.page_id, page, content_passages(page, ref.page_id))
    facts: dict[str, Fact] = {}
    sentences, missing = list[Sentence](), dict[str, list[str]]()
    for claim in batch:
        refs = [cited[url] for url in claim.urls]
        readable = {ref.page_id: sources[ref.page_id] for ref in refs if ref and ref.page_id}
        evidence = choose_evidence(claim.text, list(readable.values()), tools.step)
        facts |= {fact.id: fact for fact in evidence}
        sentences.append(Sentence(text=claim.text, fact_ids=[fact.id for fact in evidence]))
        missing[claim.id] = [url for url in claim.urls if not (cited[url] and cited[url].page_id)]  # type: ignore[union-attr]
        tools.checkpoint()
    if is_judged and tools.client:
        checked, _ = judge_sentences(tools, sentences, facts, "", _read_context(state, tools, batch))
    else:
        checked = check_support(sentences, facts)
    marks = [
        _make_mark(claim, one, facts, missing[claim.id], tools, is_judged=is_judged)
        for claim, one in zip(batch, checked, strict=True)
    ]
    read = [ref.replace(waiting=False) for ref in cited.values() if ref and ref.waiting]
    return {"facts": list(facts.values()), "marks": marks, "pages": read}


def _make_mark(
    claim: TextSentence,
    checked: Sentence,
    facts: dict[str, Fact],
    missing: list[str],
    tools: RunContext,
    *,
    is_judged: bool,
) -> SentenceMark:
    """The mark of a claim. One that cites nothing has no source; what a search found is shown as support."""
    closest, evidence = find_closest(claim.text, [facts[i] for i in checked.fact_ids])
    if checked.check not in ("judged_supported", "not_supported"):  # a judge saw them all
        evidence = evidence[:1]
    checked = checked.replace(fact_ids=[fact.id for fact in evidence])
    unread = missing + [citation.label for citation in claim.citations if not citation.url]
    has_judge = is_judged and tools.client is not None
    mark = choose_mark(checked, evidence, is_judged=has_judge, unread=bool(unread))
    if not claim.citations and mark not in ("supported", "contradicted"):
        mark = "no_source"
    return SentenceMark(
        id=claim.id, mark=mark, sentence=checked, unread=missing, closest=closest, step=tools.step
    )


def _read_context(state: CheckTextRun, tools: RunContext, batch: Sequence[TextSentence]) -> str:
    """The text from a little before the first of these claims to the last."""
    text = tools.page(state.own.text_page).text
    end = batch[-1].end
    return text[max(0, batch[0].start - 600, end - MAX_CONTEXT_CHARS) : end]


def result(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Sum the marks up. Claims that are left when the run is ended early are compared by code alone."""
    left = _check_claims(state, tools, state.own.claims_to_check(state), is_judged=False)
    now = state_after(state, left)
    marks = [now.own.marks[claim.id] for claim in now.own.claims if claim.id in now.own.marks]
    sentences = [mark.sentence for mark in marks]
    shown = [mark.sentence for mark in marks if mark.mark in ("supported", "contradicted")]
    checked = now.own.checked_text(now)
    why_stopped = _find_offline(now, tools) or state.why_stopped
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="checked" if checked else "no_evidence",
        reason="none" if checked else "blocked",
        sentences=sentences,
        certainty=checked.summary if checked else f"The text was not read: {why_stopped}",
        sources=collect_sources(shown, now.facts),
        statements=count_statements(sentences),
        by="model" if tools.client else "keyless",
        why_stopped=why_stopped if checked else "",
        step=tools.step,
    )
    return {**left, "answers": [answer], "why_stopped": "", "stop_reason": "", "rewriting": -1}, "done"


def _find_offline(state: CheckTextRun, tools: RunContext) -> str:
    """That there is no network, when no page could be reached for want of one; else ""."""
    tried = {ref.outcome for ref in state.pages.values()}
    if not tried or tried - {Outcome.ERROR, Outcome.TIMEOUT} or tools.world.is_reachable():
        return ""
    return "there seems to be no network, so no source could be read. Try them again when there is one"
