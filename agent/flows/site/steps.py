"""The steps of the site flow: recall, survey, crawl, decide, reconsider, draft."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from agent.engine.context import RunContext
from agent.engine.state import Change, merge, state_after, to_jsonable
from agent.errors import BudgetSpent
from agent.flows.shared import fact_view
from agent.flows.shared.citations import find_quote_problems
from agent.flows.shared.page_refs import START_PAGE_REASON, build_action, store_fetched
from agent.flows.site import links, thread_memory
from agent.flows.site import pages as reading
from agent.flows.site.answer import answer_from_draft, rewrite_answer
from agent.flows.site.state import BY_PERSON, BY_SITEMAP, ExplorationChoice, Sitemap, SiteRun, UrlIndex
from agent.roles.site.draft import DRAFT
from agent.roles.site.site_decision import SITE_DECISION, AgentDecision, UnvisitedUrl
from agent.text.urls import canonicalize, host
from agent.types import Outcome, Page, PageRef, Proposal, Refusal
from agent.web.extract.fast_extract import extract_fully
from agent.web.robots import list_sitemaps

MAX_SITEMAPS = 8
"""Sitemap files that are fetched at most, lists of sitemaps included."""
MAX_CAREFUL_BATCH = 10
"""A batch up to this size is extracted in full; of a larger one only the pages with a word of the
question."""
MAX_GRAPH_PAGES, MAX_USEFUL_PAGES, MAX_LINKS_KEPT = 30, 5, 50
MAX_QUESTION_CHARS = 1000


def recall(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Take over the pages and the graph of the conversation, and queue the start pages."""
    if reply := fact_view.answer_small_talk(state, tools.step):
        return {"asked": state.question, "answers": [reply], "stop_reason": "enough"}, "done"
    change: Change = {"asked": state.question, "current_iteration": 0}
    former = thread_memory.load_earlier_state(state, tools)
    if former:
        change |= thread_memory.carry_over_pages(state, former, tools)
        question = state.own.search_text(state)
        change["facts"] = thread_memory.carry_over_facts(state_after(state, change), former, question)
    now = state_after(state, change)
    index = UrlIndex(now.own)
    start = [index.add(url, found_on=BY_PERSON) for url in state.settings.start_urls if canonicalize(url)]
    queue = [i for i in dict.fromkeys(start) if i not in now.own.visited_urls]
    _index_stored_links(now, tools, index)
    added = index.to_change()
    for name, more in added.items():
        old = change.get(name, type(more)())
        change[name] = [*old, *more] if isinstance(more, list) else {**old, **more}
    if former:
        recalled = _read_recalled_pages(merge(now, to_jsonable(added)), tools)
        change |= {**recalled, "facts": [*change["facts"], *recalled["facts"]]}
    return {**change, "urls_to_process": queue}, "survey" if queue else "decide"


def _index_stored_links(state: SiteRun, tools: RunContext, index: UrlIndex) -> None:
    """Add the addresses of stored pages and sitemaps that are relevant to this question."""
    question, reach = state.own.search_text(state), state.settings.source_filter
    most = state.settings.site.max_links_per_page
    for i, page_id in state.own.url_content(state).items():
        for link in links.select_links(question, tools.page(page_id).links, reach, most):
            index.add(link.url, link.text, i)
    for sitemap in state.own.sitemaps.values():
        if sitemap.page_id:
            urls = links.parse_sitemap(tools.page(sitemap.page_id, raw=True))
            links.index_best(urls, question, reach, index)


def _read_recalled_pages(state: SiteRun, tools: RunContext) -> Change:
    """What the recalled pages say on this question; skimmed ones with a word of it are extracted in full."""
    question, content, refs = state.own.search_text(state), state.own.url_content(state), []
    for i in state.own.skimmed:
        ref, page_id = state.pages.get(state.own.all_discovered_urls[i]), content.get(i)
        if ref and page_id and reading.has_question_word(question, page := tools.page(page_id, raw=True)):
            full = extract_fully(page)
            refs.append(ref.replace(page_id=tools.store_page(full)) if full.outcome is Outcome.OK else ref)
    now = state_after(state, {"pages": refs})
    change = reading.read_pages(now, tools, list(now.own.url_content(now)))
    kept = {ref.url: ref for ref in [*now.pages.values(), *change["pages"]]}
    return {**change, "pages": list(kept.values())}


def survey(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Fetch the sitemaps of the start pages' hosts; their most relevant addresses become candidates."""
    own, reach, index = state.own, state.settings.source_filter, UrlIndex(state.own)
    question = own.search_text(state)
    parts = [urlsplit(own.all_discovered_urls[i]) for i in own.urls_to_process]
    origins = [
        origin
        for origin in dict.fromkeys(f"{part.scheme}://{part.netloc}" for part in parts)
        if reach.allows(origin) and f"{origin}/sitemap.xml" not in own.sitemaps
    ]
    queue: list[str] = []
    robots = tools.fetch_many([f"{origin}/robots.txt" for origin in origins], leading=True)
    for origin, page in zip(origins, robots, strict=True):
        listed = list_sitemaps(page.text) if page.outcome is Outcome.OK else []
        queue += [url for url in listed if reach.allows(url)] or [f"{origin}/sitemap.xml"]
    found: dict[str, Sitemap] = {}
    while batch := [url for url in dict.fromkeys(queue) if url not in {**found, **own.sitemaps}][
        : MAX_SITEMAPS - len(found)
    ]:
        for url, page in zip(batch, tools.fetch_many(batch, leading=True), strict=True):
            urls = links.parse_sitemap(page) if page.raw else []
            nested, others = links.split_nested(urls, page)
            queue += [u for u in links.rank_sitemaps(nested, question, MAX_SITEMAPS) if reach.allows(u)]
            links.index_best(others, question, reach, index)
            found[url] = _store_sitemap(tools, url, page, len(urls))
    return {**index.to_change(), "sitemaps": list(found.values())}, "crawl"


def _store_sitemap(tools: RunContext, url: str, page: Page, count: int) -> Sitemap:
    keep = count and page.outcome in (Outcome.OK, Outcome.UNSUPPORTED)
    page_id = tools.store_page(page) if keep else ""
    return Sitemap(url=url, page_id=page_id, addresses=count, outcome=page.outcome, detail=page.detail)


def crawl(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Read the queued pages side by side: store them, keep their best links, and note how they link."""
    own, index, reach = state.own, UrlIndex(state.own), state.settings.source_filter
    question, most = own.search_text(state), state.settings.site.max_links_per_page
    batch = own.urls_to_process[: _count_pages_left(state)]
    large = len(batch) > MAX_CAREFUL_BATCH
    fetched = tools.fetch_many([own.all_discovered_urls[i] for i in batch], skimmed=large)
    graph, refs, skimmed = dict[int, list[int]](), list[PageRef](), list(own.skimmed)
    for i, page in zip(batch, fetched, strict=True):
        if large and page.outcome is Outcome.OK:
            if reading.has_question_word(question, page):
                page = extract_fully(page)
            else:
                skimmed.append(i)
        refs.append(_store_page(state, tools, i, page))
        kept = links.select_links(question, page.links, reach, most)
        linked = dict.fromkeys(index.add(link.url, link.text, i) for link in kept)
        graph[i] = [n for n in linked if n != i]
    seen = [*own.visited_urls, *batch]
    for ref, i in zip(refs, batch, strict=True):
        ref.links = [own.all_discovered_urls[n] for n in graph[i] if n in seen][:MAX_LINKS_KEPT]
    arrived = (index.find(page.final_url) for page in fetched if page.outcome is Outcome.OK)
    change: Change = {
        **index.to_change(),
        "urls_to_process": [],
        "visited_urls": [
            i for i in dict.fromkeys([*batch, *arrived]) if i is not None and i not in own.visited_urls
        ],
        "url_graph": graph,
        "pages": refs,
        "skimmed": skimmed,
        "fetched": batch,
    }
    read = reading.read_pages(state_after(state, change), tools, batch)
    pages = {ref.url: ref for ref in [*refs, *read["pages"]]}
    actions = [_page_action(state, tools, pages[ref.url]) for ref in refs]
    return {**change, **read, "pages": list(pages.values()), "actions": actions}, "decide"


def _count_pages_left(state: SiteRun) -> int:
    """Pages that may still be requested in this round."""
    return max(0, state.settings.site.max_pages - len(state.actions_this_round))


def _store_page(state: SiteRun, tools: RunContext, i: int, page: Page) -> PageRef:
    urls, on = state.own.all_discovered_urls, state.own.url_found_on.get(i, BY_PERSON)
    found_on = {BY_PERSON: "person", BY_SITEMAP: "sitemap"}.get(on) or urls[on]
    return store_fetched(tools, urls[i], page, found_on, state.own.url_texts.get(i, ""))


def _page_action(state: SiteRun, tools: RunContext, ref: PageRef) -> Any:
    why = state.own.choices[-1].reasoning if state.own.choices else START_PAGE_REASON
    proposal = Proposal(next_action="crawl_url", query_or_url=ref.url, reasoning=why, by="code")
    more = {"page_id": ref.page_id, "new_facts": ref.facts}
    return build_action(proposal, tools.step, ref.outcome, ref.detail, **more)


def decide(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Answer, or explore which addresses? Pages that a person supplied are read first."""
    urls = state.own.all_discovered_urls
    given = [i for i, url in enumerate(urls) if (ref := state.pages.get(url)) and ref.waiting]
    change = reading.read_pages(state, tools, given) if given else {}
    decided, next = _decide_next(state_after(state, change) if given else state, tools)
    return {**change, **decided}, next


def _decide_next(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """What a person or a limit calls for, else what the role decides."""
    own, left, cap = state.own, _count_pages_left(state), state.settings.site.max_pages
    retry = fact_view.requested_retry(state)
    if retry and left and (i := UrlIndex(own).find(retry.query_or_url)) is not None:
        return {"urls_to_process": [i]}, "crawl"
    if state.needs_rewrite:
        choice = _forced_choice(state, tools, "You gave a page: the answer takes it in.")
        return {**_choice_change(choice), "why_stopped": ""}, "draft"
    unvisited = links.list_unvisited(state, ranked=tools.client is None)
    forced = _explain_forced_answer(state, left, unvisited)
    asks = state.settings.at_cap == "ask" and state.current_confidence < fact_view.confidence_goal(state)
    if not left and unvisited and asks:
        raise BudgetSpent(forced, cap="pages", used=cap, limit=cap)
    if not forced:
        return _ask_decision(state, tools, unvisited, left)
    limit = forced if unvisited else ""
    relevant = [i for i, relevance in own.bearings.items() if relevance]
    return {
        **_choice_change(_forced_choice(state, tools, forced, limit)),
        "why_stopped": limit,
        "stop_reason": "budget" if limit else "enough",
        "useful_visited_indices": sorted(relevant, key=lambda i: -own.bearings[i])[:MAX_USEFUL_PAGES],
    }, "draft"


def _forced_choice(state: SiteRun, tools: RunContext, why: str, limit: str = "") -> ExplorationChoice:
    return ExplorationChoice(
        step=tools.step,
        iteration=state.own.current_iteration,
        decision="answer",
        reasoning=why,
        by="code",
        forced=limit,
    )


def _ask_decision(
    state: SiteRun, tools: RunContext, unvisited: list[UnvisitedUrl], left: int
) -> tuple[Change, str]:
    """The role's decision; the fallback's when it explores nothing that exists."""
    own, limits = state.own, state.settings.site
    most = min(limits.max_urls_per_iteration, left)
    passages = reading.passages_for_prompt(state, tools)
    inputs: dict[str, Any] = {
        "question": state.question,
        "history": state.history,
        "instruction": state.settings.instruction,
        "notes": [note.text for note in state.notes],
        "pages": reading.list_pages(state, passages if tools.client else []),
        "graph": {i: own.url_graph.get(i, []) for i in own.visited_urls[-MAX_GRAPH_PAGES:]},
        "unvisited": unvisited,
        "iteration": own.current_iteration,
        "max_iterations": limits.max_iterations,
        "max_urls": most,
    }
    known, refusals = {address.index for address in unvisited}, list[Refusal]()

    def check(reply: AgentDecision) -> list[str]:
        found, refused = _check_selection(reply, known)
        refusals.extend(refusal for refusal in refused if refusal not in refusals)
        reasons = [f"{refusal.what}: {refusal.why}" for refusal in refused]
        is_aimless = reply.decision == "explore" and not found and not reasons
        return ["It explores, but selects no address."] if is_aimless else reasons

    judgement = tools.judge(SITE_DECISION, check=check, **inputs)
    reply: AgentDecision = judgement.value
    change: Change = {}
    if judgement.by == "model" and reply.standalone_question.strip():
        change["asked"] = reply.standalone_question.strip()[:MAX_QUESTION_CHARS]
    selected, _ = _check_selection(reply, known)
    by, trouble = judgement.by, judgement.fallback_reason
    if reply.decision == "explore" and not selected:
        reply = SITE_DECISION.fallback(**inputs)  # type: ignore[assignment]
        by, selected, trouble = "keyless", reply.selected_url_indices, " ".join(judgement.problems)
    choice = ExplorationChoice(
        step=tools.step,
        iteration=own.current_iteration,
        decision=reply.decision,
        reasoning=reply.reasoning,
        selected=selected[:most] if reply.decision == "explore" else [],
        by=by,
        trouble=trouble,
    )
    content = own.url_content(state)
    useful = [i for i in reply.useful_visited_indices if i in content]
    change |= {**_choice_change(choice), "useful_visited_indices": useful, "refusals": refusals}
    if choice.decision == "explore":
        onward = {"urls_to_process": choice.selected, "current_iteration": own.current_iteration + 1}
        return {**change, **onward}, "crawl"
    return {**change, "why_stopped": "", "stop_reason": "enough"}, "draft"


def _explain_forced_answer(state: SiteRun, left: int, unvisited: list[UnvisitedUrl]) -> str:
    """Why no more may be explored, as a sentence; "" when it may."""
    limits = state.settings.site
    if state.own.current_iteration >= limits.max_iterations:
        return f"All {limits.max_iterations} explorations of this round are used, so it was time to answer."
    if not left:
        return f"All {limits.max_pages} pages of this round are read, so it was time to answer."
    return "" if unvisited else "There is no further address to explore."


def _choice_change(choice: ExplorationChoice) -> Change:
    return {"choices": [choice], "decision_reasoning": choice.reasoning, "urls_to_process": []}


def _check_selection(reply: AgentDecision, known: set[int]) -> tuple[list[int], list[Refusal]]:
    """The chosen indices that exist, each once, and a refusal for each other."""
    chosen = list(dict.fromkeys(reply.selected_url_indices)) if reply.decision == "explore" else []
    why = "the decision chose an address that is not among the unvisited ones"
    refused = [Refusal(what=f"address {i}", why=why) for i in chosen if i not in known]
    return [i for i in chosen if i in known], refused


def reconsider(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """An answer was sent back: read the pages again with the person's note, and allow new explorations."""
    change = reading.read_pages(state, tools, list(state.own.url_content(state)))
    return {**change, "current_iteration": 0}, "decide"


def draft(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Write the answer from what was read, or refuse; from the accepted facts alone after a person's
    edits."""
    if state.edits:
        return rewrite_answer(state, tools), "review"
    passages = reading.passages_for_prompt(state, tools)
    hosts = dict.fromkeys(host(url) for url in state.settings.start_urls)
    judgement = tools.judge(
        DRAFT,
        check=lambda reply: find_quote_problems(tools, reply.answer, passages),
        question=state.question,
        asked=state.asked or state.question,
        history=state.history,
        instruction=state.settings.instruction,
        notes=[note.text for note in state.notes],
        reasoning=state.own.decision_reasoning,
        passages=passages,
        site=", ".join(hosts),
        forced=state.own.choices[-1].forced if state.own.choices else "",
        former=state.answer.text if state.answer else "",
    )
    return answer_from_draft(state, tools, judgement, passages), "review"
