"""The steps of `check_text`: each returns a change and the name of the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent.answering.claim_checks import judge_sentences, make_judge
from agent.answering.pages import (
    ANSWERED,
    build_action,
    build_crawl,
    content_passages,
    cool_down,
    read_open_copy,
    store_fetched,
)
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.errors import BudgetSpent
from agent.evidence.citation_check import check_support, collect_sources, count_statements
from agent.flows.check_text.evidence import choose_evidence, choose_mark, find_closest
from agent.flows.check_text.split_text import MAX_SENTENCES, split_text
from agent.flows.check_text.state import CheckTextRun
from agent.roles.check_claims import FIND_CLAIMS, NumberedSentence
from agent.store.ledger import utc_timestamp
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
from agent.types.checked_text import summarize_marks
from agent.web.extract import documents

A_STEP = 8
"""Sources fetched, or claims searched for or checked, in one step: what a kill repeats at most."""
SORTED_A_STEP = 120
"""Sentences that the model looks at in one call for what is no claim, about 4,000 tokens."""
HITS_READ = 3
"""Results of a search that are read."""
MAX_QUERY_WORDS = 32
"""Words of a claim that are searched for: Google reads no more."""
MAX_CONTEXT_CHARS = 6_000
"""Characters of the text around the claims of a call, to tell whom a pronoun means."""


def _go_on(state: CheckTextRun, tools: RunContext, change: Change) -> tuple[Change, str]:
    """The change, and the step that has something to do after it."""
    now = state_after(state, change)
    own = now.own
    if not own.text_page:
        return change, "read"
    if tools.client and own.sorted_count < len(own.sentences):
        return change, "sort"
    if _list_wave(now) or (now.settings.at_cap == "ask" and own.urls_to_fetch(now)):
        return change, "fetch"
    if own.claims_to_search(now):
        return change, "search"
    return change, "check" if own.claims_to_check(now) else "result"


def read(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Read the text, given or by its address, and split it into sentences with what they cite."""
    address, refs = complete_typed_url(state.question), list[PageRef]()
    supplied = state.own.refs_by_address(state).get(canonicalize(address))
    if page_id := state.settings.check_text.page_id or (supplied.page_id if supplied else ""):
        page = tools.page(page_id, raw=True)
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
    why = f"the text has {len(sentences):,} sentences; the first {MAX_SENTENCES:,} are checked. Split it"
    change: Change = {
        "pages": refs,
        "text_page": page_id,
        "text_url": page.final_url if canonicalize(page.final_url) else "",
        "title": page.title or state.question[:120],
        "sentences": sentences[:MAX_SENTENCES],
        "why_stopped": why if len(sentences) > MAX_SENTENCES else "",
    }
    return _go_on(state, tools, change)


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
    return _go_on(state, tools, change)


def _list_wave(state: CheckTextRun) -> list[str]:
    """The addresses that are fetched next, within the page budget."""
    left = state.settings.check_text.max_pages - state.own.count_pages(state.actions_this_round)
    return state.own.urls_to_fetch(state)[: max(0, min(A_STEP, left))]


def fetch(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Fetch the next sources side by side."""
    own, wave, limit = state.own, _list_wave(state), state.settings.check_text.max_pages
    spent = f"the budget of {format_count(limit, 'page')} is used up"
    if not own.urls_to_fetch(state):  # a person supplied a page, or asks for the text itself again
        return _go_on(state, tools, {})
    if not wave:
        raise BudgetSpent(spent, cap="pages", used=own.count_pages(state.actions_this_round), limit=limit)
    pages = [read_open_copy(tools, page) for page in tools.fetch_many(wave)]
    change: Change = {"pages": [], "actions": []}
    for url, page in zip(wave, pages, strict=True):
        citing = [one for one in own.claims if canonicalize(url) in map(canonicalize, one.urls)]
        how = "Found for" if citing and citing[0].found else "Cited by"
        ref = store_fetched(tools, url, page, own.text_url or "person")
        change["pages"].append(ref)
        change["actions"].append(build_crawl(ref, f"{how} {format_count(len(citing), 'claim')}."))
    now = state_after(state, change)
    if now.own.urls_to_fetch(now) and not _list_wave(now):
        change["why_stopped"] = spent
    return _go_on(state, tools, change)


def search(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Search for claims that cite nothing; the first results are read as their sources."""
    chosen, cooling = {*(state.settings.engines or tools.world.engines)}, state.cooling
    found, actions, why = list[TextSentence](), list[Action](), "A claim of the text cites no source."
    for claim in state.own.claims_to_search(state)[:A_STEP]:
        query = " ".join(claim.text.split()[:MAX_QUERY_WORDS])
        hits, trouble, now = list[SearchHit](), "No search engine can be asked now", utc_timestamp()
        usable = {name for name in chosen.intersection(tools.world.engines) if cooling.get(name, "") <= now}
        for name in rank_general({f"search_{name}" for name in usable}):
            result = tools.search(ENGINE_BY_ACTION[name], query)
            asked = Proposal(next_action=name, query_or_url=query, reasoning=why, by="code")
            done = build_action(asked, tools.step, result.outcome, result.detail, hits=len(result.hits))
            actions.append(done)
            cooling = cool_down(cooling, result)
            trouble = "" if result.outcome in ANSWERED else trouble and result.detail
            if hits := result.hits:
                break
        own = canonicalize(state.own.text_url)
        urls = [hit.url for hit in hits if canonicalize(hit.url) != own][:HITS_READ]
        found.append(claim.replace(found=urls, searched=True, search_trouble=trouble))
    change: Change = {"sentences": found, "actions": actions, "cooling": cooling}
    return _go_on(state, tools, change)


def check(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Check the next claims against their sources."""
    change = _check_claims(state, tools, state.own.claims_to_check(state)[:A_STEP], is_judged=True)
    return _go_on(state, tools, change)


def _check_claims(
    state: CheckTextRun, tools: RunContext, batch: Sequence[TextSentence], *, is_judged: bool
) -> Change:
    """The marks of these claims with their evidence; by code alone unless `is_judged`."""
    known = state.own.refs_by_address(state)
    refs = {url: known.get(canonicalize(url)) for claim in batch for url in claim.urls}
    page_ids = {url: ref.page_id if ref else "" for url, ref in refs.items()}
    pages = {page_id: tools.page(page_id) for page_id in dict.fromkeys(page_ids.values()) if page_id}
    passages = {page_id: content_passages(page, page_id) for page_id, page in pages.items()}
    facts, sentences, marks = dict[str, Fact](), list[Sentence](), list[SentenceMark]()
    for claim in batch:
        cited = dict.fromkeys(page_ids[url] for url in claim.urls if page_ids[url])
        shown = [passage for page_id in cited for passage in passages[page_id]]
        evidence = choose_evidence(claim.text, shown, pages, tools.step)
        facts |= {fact.id: fact for fact in evidence}
        sentences.append(Sentence(text=claim.text, fact_ids=[fact.id for fact in evidence]))
        tools.checkpoint()
    if is_judged and tools.client:
        text, end = tools.page(state.own.text_page).text, batch[-1].end
        around = text[max(0, batch[0].start - 600, end - MAX_CONTEXT_CHARS) : end]
        checked = judge_sentences(tools, make_judge(tools, "", around), sentences, facts)
    else:
        is_judged, checked = False, check_support(sentences, facts)
    for claim, one in zip(batch, checked, strict=True):
        closest, evidence = find_closest(one, [facts[i] for i in one.fact_ids])
        if one.check not in ("judged_supported", "not_supported"):  # a judge saw them all
            evidence = evidence[:1]
        one = one.replace(fact_ids=[fact.id for fact in evidence])
        unread = [url for url in claim.urls if not page_ids[url]]
        is_unread = bool(unread) or any(not citation.url for citation in claim.citations)
        mark = choose_mark(one, is_judged=is_judged, unread=is_unread)
        if not claim.citations and mark not in ("supported", "contradicted"):
            mark = "no_source"
        given = SentenceMark(id=claim.id, mark=mark, sentence=one, unread=unread, step=tools.step)
        marks.append(given.replace(closest=closest))
    read = [ref.replace(waiting=False) for ref in refs.values() if ref and ref.waiting]
    return {"facts": list(facts.values()), "marks": marks, "pages": read}


def result(state: CheckTextRun, tools: RunContext) -> tuple[Change, str]:
    """Sum the marks up. Claims that are left when the run is ended early are compared by code alone."""
    left = _check_claims(state, tools, state.own.claims_to_check(state), is_judged=False)
    now = state_after(state, left)
    marks = [now.own.marks[claim.id] for claim in now.own.claims if claim.id in now.own.marks]
    sentences = [mark.sentence for mark in marks]
    shown = [mark.sentence for mark in marks if mark.mark in ("supported", "contradicted")]
    checked, why_stopped = now.own.checked_text(now), state.why_stopped
    tried = {ref.outcome for ref in now.pages.values()}
    if tried and tried <= {Outcome.ERROR, Outcome.TIMEOUT} and not tools.world.is_reachable():
        why_stopped = "there seems to be no network, so no source could be read. "
        why_stopped += "Try them again when there is one"
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


def describe_step(name: str, change: Change) -> str:
    """What the step did; "" when there is nothing to report."""
    match name:
        case "read" if change.get("text_page"):
            kinds = Counter(one["kind"] for one in change["sentences"])
            cited = {c["url"] for one in change["sentences"] for c in one["citations"] if c["url"]}
            return f"{format_count(kinds['claim'], 'claim')}, {format_count(len(cited), 'source')} cited"
        case "read":
            return f"not readable: {change.get('why_stopped', '')}"
        case "sort":
            return f"{format_count(len(change.get('sentences', [])), 'sentence')} without a fact"
        case "fetch":
            read = [ref for ref in change["pages"] if ref["page_id"]]
            return f"{len(read)} of {format_count(len(change['pages']), 'source')} read"
        case "search":
            found = sum(bool(one["found"]) for one in change["sentences"])
            return f"pages found for {found} of {format_count(len(change['sentences']), 'claim')}"
        case "check":
            return summarize_marks(mark["mark"] for mark in change["marks"])
        case "result":
            return str(change["answers"][0]["certainty"]) if change.get("answers") else ""
    return ""
