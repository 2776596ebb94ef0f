"""The steps of the site flow: recall, survey, crawl, decide, reconsider, draft."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from agent.answering import fact_view
from agent.answering.fact_view import list_parts
from agent.answering.pages import (
    START_PAGE_REASON,
    build_crawl,
    fold_earlier_turns,
    mark_read,
    refer_to_stored,
)
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.errors import BudgetSpent
from agent.flows.site import earlier_pages, links
from agent.flows.site import pages as reading
from agent.flows.site.answer import rewrite_answer, show_found, write_answer
from agent.flows.site.state import (
    BY_INDEX,
    BY_PERSON,
    BY_SITEMAP,
    ExplorationChoice,
    Sitemap,
    SiteRun,
    SiteState,
    UrlIndex,
)
from agent.roles.site import SITE_DECISION, AgentDecision, UnvisitedUrl
from agent.text.urls import canonicalize, site
from agent.types import Link, Outcome, PageRef, Passage
from agent.web.robots import list_sitemaps

MAX_SITEMAPS = 8
"""Sitemap files that are fetched at most, lists of sitemaps included."""
MAX_REUSED_PAGES = 60
"""Stored pages that one wave takes in without a request."""
FOUND_BY = {BY_PERSON: "person", BY_SITEMAP: "sitemap", BY_INDEX: "library"}
MAX_LINKS_KEPT = 50
MAX_QUESTION_CHARS = 1000
MAX_UNVISITED_SHOWN = 30
"""Unvisited addresses a decision is shown."""


def recall(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Take over the conversation's pages, and queue the start pages unless stored pages fit well."""
    change: Change = {"asked": state.question, "current_iteration": 0}
    turns, index = fold_earlier_turns(state, tools, SiteState), UrlIndex(state.own)
    if former := next((turn for turn in turns if turn.own.all_discovered_urls), None):
        change |= earlier_pages.carry_over(state, former, tools)
        for i, url in enumerate(former.own.all_discovered_urls):
            index.add(url, former.own.url_texts.get(i, ""), former.own.url_found_on.get(i, BY_PERSON))
    start = [index.add(url) for url in state.settings.start_urls if canonicalize(url)]
    now = state_after(state, {**change, **index.change})
    queue = [i for i in dict.fromkeys(start) if i not in now.own.visited_urls]
    question, (_, is_open) = now.own.relevance_question(now), links.find_reach(now, tools)
    for i, page_id in now.own.url_content(now).items():
        most = now.settings.site.max_links_per_page
        for link in links.select_links(question, tools.page(page_id).links, is_open, most):
            index.add(link.url, link.text, i)
    for sitemap in now.own.sitemaps.values():
        if sitemap.page_id:
            _, urls = links.read_sitemap(tools.page(sitemap.page_id, raw=True))
            links.index_best(urls, question, is_open, index)
    if queue and not former:
        stored = earlier_pages.list_site_pages(state, tools)
        if stored and reading.is_good(reading.search_site(state, tools, stored.values(), notes=())):
            queue = []
    return {**change, **index.change, "urls_to_process": queue}, "survey" if queue else "decide"


def survey(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Fetch the sitemaps of the start pages' hosts; their most relevant addresses become candidates."""
    own, reach, index = state.own, state.settings, UrlIndex(state.own)
    question, (_, is_open) = own.relevance_question(state), links.find_reach(state, tools)
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
            nested, others = links.read_sitemap(page) if page.raw else ([], [])
            maps = [Link(url=entry) for entry in nested if reach.allows(entry)]
            best = links.select_links(question, maps, bool, MAX_SITEMAPS)
            queue += [link.url for link in sorted(maps, key=lambda link: link not in best)]
            links.index_best(others, question, is_open, index)
            count = len(nested) + len(others)
            keep = count and page.outcome in (Outcome.OK, Outcome.UNSUPPORTED)
            found[url] = Sitemap(
                url=url,
                page_id=tools.store_page(page) if keep else "",
                addresses=count,
                outcome=page.outcome,
                detail=page.detail,
            )
    return {**index.change, "sitemaps": list(found.values())}, "crawl"


def crawl(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Read the queued pages side by side, fetched or stored and fresh; keep their best links."""
    own, index, urls = state.own, UrlIndex(state.own), state.own.all_discovered_urls
    retry = fact_view.requested_retry(state)
    again = index.find(retry.query_or_url) if retry else None
    stored = earlier_pages.find_stored(state, tools, [urls[i] for i in own.urls_to_process if i != again])
    reused = [i for i in own.urls_to_process if urls[i] in stored and stored[urls[i]].is_fresh]
    asked = [i for i in own.urls_to_process if i not in reused][: _count_pages_left(state)]
    known = {url: held.page for url, held in stored.items()}
    fetched = tools.fetch_many([urls[i] for i in asked], known=known)
    pages = dict(zip(asked, fetched, strict=True)) | {i: known[urls[i]] for i in reused}
    batch, graph = [*asked, *reused], dict[int, list[int]]()
    refs, good = list[PageRef](), {i: page for i, page in pages.items() if page.outcome is Outcome.OK}
    ids = dict(zip(good, tools.store_fetched([(urls[i], page) for i, page in good.items()]), strict=True))
    for i, page in pages.items():
        on = own.url_found_on.get(i, BY_PERSON)
        ref = refer_to_stored(page, ids.get(i, ""), FOUND_BY.get(on) or urls[on], tools.step, url=urls[i])
        title = page.title or own.url_texts.get(i, "")
        ref = ref.replace(final_url=page.final_url, title=title, outcome=page.outcome, detail=page.detail)
        refs.append(mark_read(ref, page, facts=0) if i in good else ref)
    now, question = state_after(state, {"pages": refs}), own.relevance_question(state)
    (folders, is_open), seen = links.find_reach(now, tools), {*own.visited_urls, *batch}
    for ref, (i, page) in zip(refs, pages.items(), strict=True):
        followed = page.links if folders.allows_page(page.language) else []
        kept = links.select_links(question, followed, is_open, state.settings.site.max_links_per_page)
        linked = dict.fromkeys(index.add(link.url, link.text, i) for link in kept)
        graph[i] = [n for n in linked if n != i]
        ref.links = [urls[n] for n in graph[i] if n in seen and n < len(urls)][:MAX_LINKS_KEPT]
    arrived = (index.find(page.final_url) for page in pages.values() if page.outcome is Outcome.OK)
    why = own.choices[-1].reasoning if own.choices else START_PAGE_REASON
    change: Change = {
        **index.change,
        "urls_to_process": [],
        "visited_urls": [
            i for i in dict.fromkeys([*batch, *arrived]) if i is not None and i not in own.visited_urls
        ],
        "url_graph": graph,
        "pages": refs,
        "fetched": asked,
        "reused": reused,
        "actions": [build_crawl(ref, why) for ref, i in zip(refs, pages, strict=True) if i in asked],
    }
    return change, "decide"


def _count_pages_left(state: SiteRun) -> int:
    """Pages that may still be requested in this round."""
    return max(0, state.settings.site.max_pages - len(state.actions_this_round))


def decide(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Answer, or explore? Stored pages of the site that the index draws on become pages of the run."""
    waiting = [ref for ref in state.pages.values() if ref.waiting and ref.page_id]
    given = [mark_read(ref, tools.page(ref.page_id), facts=ref.facts) for ref in waiting]
    stored = earlier_pages.list_site_pages(state, tools)
    notes = fact_view.note_texts(state, public=True)  # they tell what is read next
    found = reading.search_site(state, tools, stored.values(), notes=notes)
    index, hit = UrlIndex(state.own), {passage.page_id for passage in found}
    hit -= set(state.own.url_content(state).values())
    refs: dict[int, PageRef] = {}
    for url, page_id in stored.items():
        if page_id in hit and (i := index.add(url, found_on=BY_INDEX)) not in state.own.visited_urls:
            page = tools.page(page_id)
            ref = refer_to_stored(page, page_id, FOUND_BY[BY_INDEX], tools.step, url=url)
            refs[i] = mark_read(ref, page, facts=0)
    change: Change = {"pages": [*given, *refs.values()]}
    if refs:
        change |= {**index.change, "visited_urls": list(refs), "reused": list(refs)}
    decided, next = _decide_next(state_after(state, change), tools, found)
    return {**change, **decided}, next


def _decide_next(state: SiteRun, tools: RunContext, found: Sequence[Passage]) -> tuple[Change, str]:
    """What a person or a limit calls for, else what the role decides; without a model the next addresses."""
    own, limits, left = state.own, state.settings.site, _count_pages_left(state)
    retry = fact_view.requested_retry(state)
    if retry and left and (i := UrlIndex(own).find(retry.query_or_url)) is not None:
        return {"urls_to_process": [i]}, "crawl"
    choice = ExplorationChoice(
        step=tools.step, iteration=own.current_iteration, decision="answer", reasoning="", by="code"
    )
    if state.needs_rewrite:
        choice = choice.replace(reasoning="You gave a page: the answer takes it in.")
        return {"choices": [choice], "why_stopped": ""}, "draft"
    order, done = links.order_unread(state, tools), "so it was time to answer"
    is_enough = not tools.has_model and reading.is_good(found) and fact_view.confidence_goal(state) <= 1
    spent = own.current_iteration >= limits.max_iterations
    reasons = {
        "A passage that was read fits the question well.": is_enough,
        "There is no further address to explore.": not order,
        f"All {limits.max_iterations} explorations of this round are used, {done}.": spent,
        f"All {limits.max_pages} pages of this round are read, {done}.": not left,
    }
    forced = next((reason for reason, holds in reasons.items() if holds), "")
    if not order and tools.has_model and (state.history or not own.choices):
        forced = ""  # only a model completes a follow-up and says what is asked
    if not left and order and not is_enough and state.settings.at_cap == "ask":
        raise BudgetSpent(forced, cap="pages", used=limits.max_pages, limit=limits.max_pages)
    if forced:
        limit = forced if order and not is_enough else ""
        stopped = {"why_stopped": limit, "stop_reason": "budget" if limit else "enough"}
        return {"choices": [choice.replace(reasoning=forced, forced=limit)], **stopped}, "draft"
    most = min(limits.max_urls_per_iteration, left)
    if tools.has_model:
        change, choice = _ask_decision(state, tools, found, order, most)
        state = state_after(state, change)
    else:
        reason = "No passage that was read fits well enough yet."
        change = {}
        choice = choice.replace(decision="explore", reasoning=reason, selected=order[:most])
    change["choices"] = [choice]
    if choice.decision == "answer":
        return {**change, "why_stopped": "", "stop_reason": "enough"}, "draft"
    wave = _fill_wave(state, tools, choice.selected, order, left)
    return {**change, "urls_to_process": wave, "current_iteration": own.current_iteration + 1}, "crawl"


def _ask_decision(
    state: SiteRun, tools: RunContext, found: Sequence[Passage], order: Sequence[int], most: int
) -> tuple[Change, ExplorationChoice]:
    """The role's decision; one that explores nothing that exists takes the next addresses."""
    own, limits = state.own, state.settings.site
    linked = {i for page in own.chosen for i in own.url_graph.get(page, [])}
    near = [i for i in order if i in linked][: MAX_UNVISITED_SHOWN // 2]
    unvisited = [
        UnvisitedUrl(
            index=i,
            url=links.shorten_url(own.all_discovered_urls[i], limits),
            text=own.url_texts.get(i, "")[:200],
        )
        for i in list(dict.fromkeys([*near, *order]))[:MAX_UNVISITED_SHOWN]
    ]
    shown = reading.choose_passages(state, tools, found, own.chosen[:most], reading.DECISION_CHARS)
    known = {address.index for address in unvisited}

    def check(reply: AgentDecision) -> list[str]:
        if reply.decision == "answer":
            return []
        why = "the decision chose an address that is not among the unvisited ones"
        chosen = dict.fromkeys(reply.selected_url_indices)
        reasons = [f"address {i}: {why}" for i in chosen if i not in known]
        return reasons if chosen else ["It explores, but selects no address."]

    judgement = tools.judge(
        SITE_DECISION,
        check=check,
        question=state.question,
        history=fact_view.public_history(state),
        instruction=state.settings.instruction,
        notes=fact_view.note_texts(state, public=True),
        pages=reading.list_pages(state, shown),
        unvisited=unvisited,
        iteration=own.current_iteration,
        max_iterations=limits.max_iterations,
        max_urls=most,
    )
    reply: AgentDecision = judgement.value
    change: Change = {}
    completed = reply.standalone_question.strip()[:MAX_QUESTION_CHARS] if state.history else ""
    if completed:
        change["asked"] = completed
    if any(map(str.strip, reply.parts)) or not own.choices:
        change["plan_parts"] = list_parts(reply.parts, completed or state.full_question)
    if reply.search_words.strip():
        change["search_words"] = " ".join(reply.search_words.split())[:MAX_QUESTION_CHARS]
    content, chosen = own.url_content(state), dict.fromkeys(reply.selected_url_indices)
    selected = [i for i in chosen if i in known] or list(order)
    useful = [i for i in dict.fromkeys(reply.useful_visited_indices) if i in content]
    choice = ExplorationChoice(
        step=tools.step,
        iteration=own.current_iteration,
        decision=reply.decision,
        reasoning=fact_view.clean_message(state, reply.reasoning, own.all_discovered_urls),
        selected=selected[:most] if reply.decision == "explore" else [],
        by="model",
        trouble=" ".join(judgement.problems),
    )
    return {**change, "useful_visited_indices": useful}, choice


def _fill_wave(
    state: SiteRun, tools: RunContext, chosen: list[int], order: Sequence[int], left: int
) -> list[int]:
    """The chosen addresses and the next ones of the start pages' sites, `crawl_ahead` beside fresh ones."""
    urls, limits = state.own.all_discovered_urls, state.settings.site
    unknown = limits.max_pages - len(state.own.url_content(state))
    most = max(len(chosen), min(limits.crawl_ahead, unknown))
    own_sites = set(map(site, state.settings.start_urls))
    nearest = [i for i in order if i not in chosen and site(urls[i]) in own_sites][: most + MAX_REUSED_PAGES]
    stored = earlier_pages.find_stored(state, tools, [urls[i] for i in [*chosen, *nearest]])
    fresh = {url for url, held in stored.items() if held.is_fresh}
    wave, room = list(chosen), min(most, left) - sum(urls[i] not in fresh for i in chosen)
    for i in nearest:
        if urls[i] in fresh or room > 0:
            wave.append(i)
            room -= urls[i] not in fresh
    return wave


def reconsider(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """An answer was sent back: the index is asked again with the person's note, and may be extended."""
    return {"current_iteration": 0}, "decide"


def draft(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Write the answer, or refuse; from the accepted facts alone after a person's edits without a note."""
    noted = state.notes[-1].step if state.notes else -1
    is_edited = state.edits and not (state.answer and noted > state.answer.step)
    if is_edited:
        return rewrite_answer(state, tools), "review"
    has_writer = tools.has_model and not tools.find_spent_budget()
    return (write_answer if has_writer else show_found)(state, tools), "review"
