"""The site flow: answer a question from chosen websites, reading as little as it takes.

recall -> survey -> crawl -> decide -> crawl … -> draft -> review. `recall` takes over what the conversation
has read already, `survey` asks for the sitemaps, `crawl` reads a batch side by side, `decide` chooses between
answering and exploring, `draft` writes or refuses. The table closes the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from agent.engine.context import RunContext
from agent.engine.loop import Flow
from agent.engine.state import Change, merge, shallow_copy, to_jsonable
from agent.errors import BudgetSpent
from agent.flows.shared import fact_view, recompute
from agent.flows.site import pages as reading
from agent.flows.site import thread_memory
from agent.flows.site.answer import answer_from_draft, rewrite_answer
from agent.flows.site.state import (
    BY_PERSON,
    BY_SITEMAP,
    ExplorationChoice,
    Sitemap,
    SiteRun,
    SiteState,
    UrlIndex,
)
from agent.flows.site.step_summary import describe_step
from agent.retrieval.site_link_scoring import split_path_words
from agent.retrieval.unseen_terms import find_unseen_terms
from agent.roles.site.draft import DRAFT
from agent.roles.site.site_decision import SITE_DECISION, AgentDecision, SitePage, UnvisitedUrl
from agent.text.question_analysis import parse_question
from agent.text.urls import canonicalize, host
from agent.types import Action, Edge, Link, Outcome, Page, PageRef, Refusal, SourceFilter, Status
from agent.web.extract.fast_extract import extract_fully
from agent.web.robots import list_sitemaps

MAX_SITEMAPS = 8
"""Sitemap files that are asked for at most, lists of sitemaps included."""
MAX_SITEMAP_CANDIDATES = 300
"""Addresses of one sitemap that become candidates: those that bear most on the question."""
MAX_CAREFUL_BATCH = 10
"""A batch up to this size is read with care; of a larger one only the pages that hold a word of the
question."""


def recall(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Begin: understand the question in its conversation, take over its pages and graph, put the start pages
    in the queue."""
    if polite := fact_view.answer_small_talk(state, tools.step):
        return {"asked": state.question, "answers": [polite], "stop_reason": "enough"}, "done"
    former = thread_memory.load_earlier_state(state, tools)
    change: Change = {"asked": state.question, "current_iteration": 0}
    if former:
        change |= thread_memory.carry_over_pages(state, former, tools)
        change["facts"] = thread_memory.carry_over_facts(
            merge(shallow_copy(state), to_jsonable(change)), former, state.own.search_text(state)
        )
    now = merge(shallow_copy(state), to_jsonable(change))
    atlas = UrlIndex(now.own)
    start = [atlas.add(url, found_on=BY_PERSON) for url in state.settings.start_urls if canonicalize(url)]
    queue = [i for i in dict.fromkeys(start) if i not in now.own.visited_urls]
    _index_stored_links(now, tools, atlas)
    added = atlas.to_change()
    for name in ("all_discovered_urls", "url_texts", "url_found_on"):
        old = change.get(name)
        change[name] = (
            added[name]
            if old is None
            else [*old, *added[name]]
            if isinstance(old, list)
            else {**old, **added[name]}
        )
    if former:
        merged = merge(now, to_jsonable(added))
        recalled = _read_recalled_pages(merged, tools)
        change |= {**recalled, "facts": [*change["facts"], *recalled["facts"]]}
    return {**change, "urls_to_process": queue}, "survey" if queue else "decide"


def _index_stored_links(state: SiteRun, tools: RunContext, atlas: UrlIndex) -> None:
    """Of the stored pages and sitemaps, the addresses that bear on this question: former ones were chosen for
    another."""
    limits, reach = state.settings.site, state.settings.source_filter
    asked = state.own.search_text(state)
    for i, page_id in state.own.url_content(state).items():
        for link in reading.select_links(asked, tools.page(page_id).links, reach, limits.max_links_per_page):
            atlas.add(link.url, link.text, i)
    for sitemap in state.own.sitemaps.values():
        if sitemap.page_id:
            _index_best_urls(
                reading.parse_sitemap(tools.page(sitemap.page_id, raw=True)), asked, reach, atlas
            )


def _read_recalled_pages(state: SiteRun, tools: RunContext) -> Change:
    """What the recalled pages say on this question; those only skimmed so far are read with care now."""
    refs = []
    for i in state.own.skimmed:
        url, page_id = state.own.all_discovered_urls[i], state.own.url_content(state).get(i)
        if page_id and _has_question_word(
            state.own.search_text(state), stored := tools.page(page_id, raw=True)
        ):
            careful = extract_fully(stored)
            refs.append(
                state.pages[url].model_copy(
                    update={
                        "page_id": tools.store_page(careful) if careful.outcome is Outcome.OK else page_id
                    }
                )
            )
    now = merge(shallow_copy(state), to_jsonable({"pages": refs}))
    change = reading.read_pages(now, tools, list(now.own.url_content(now)))
    kept = {ref.url: ref for ref in [*now.pages.values(), *change.pop("pages")]}
    return {**change, "pages": list(kept.values())}


def survey(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Ask the start pages' hosts for their sitemaps (robots.txt names them); the best addresses become
    candidates."""
    reach, atlas = state.settings.source_filter, UrlIndex(state.own)
    origins = list(
        dict.fromkeys(_origin(state.own.all_discovered_urls[i]) for i in state.own.urls_to_process)
    )
    origins = [
        origin
        for origin in origins
        if reach.allows(origin) and f"{origin}/sitemap.xml" not in state.own.sitemaps
    ]
    robots = tools.fetch_many([f"{origin}/robots.txt" for origin in origins], leading=True)
    queue: list[str] = []
    for origin, page in zip(origins, robots, strict=True):
        named = list_sitemaps(page.text) if page.outcome is Outcome.OK else []
        queue += [url for url in named if reach.allows(url)] or [f"{origin}/sitemap.xml"]
    found: dict[str, Sitemap] = {}
    while batch := [
        url for url in dict.fromkeys(queue) if url not in found and url not in state.own.sitemaps
    ][: MAX_SITEMAPS - len(found)]:
        for url, page in zip(batch, tools.fetch_many(batch, leading=True), strict=True):
            places = reading.parse_sitemap(page) if page.raw else []
            nested = [place for place in places if _is_sitemap(place, page)]
            queue += [
                place for place in _rank_sitemaps(nested, state.own.search_text(state)) if reach.allows(place)
            ]
            _index_best_urls(
                [place for place in places if place not in nested], state.own.search_text(state), reach, atlas
            )
            kept = (
                tools.store_page(page) if page.outcome in (Outcome.OK, Outcome.UNSUPPORTED) and places else ""
            )
            found[url] = Sitemap(
                url=url, page_id=kept, addresses=len(places), outcome=page.outcome, detail=page.detail
            )
    return {**atlas.to_change(), "sitemaps": list(found.values())}, "crawl"


def _is_sitemap(place: str, page: Page) -> bool:
    return b"<sitemapindex" in page.raw[:2000] or urlsplit(place).path.endswith((".xml", ".xml.gz"))


def _rank_sitemaps(places: list[str], asked: str) -> list[str]:
    """Nested sitemaps, those first whose names share words with the question."""
    best = {
        link.url
        for link in reading.select_links(
            asked, [Link(url=place) for place in places], SourceFilter(), MAX_SITEMAPS
        )
    }
    return sorted(places, key=lambda place: place not in best)


def _index_best_urls(places: Iterable[str], asked: str, reach: SourceFilter, atlas: UrlIndex) -> None:
    for link in reading.select_links(
        asked, (Link(url=place) for place in places), reach, MAX_SITEMAP_CANDIDATES
    ):
        atlas.add(link.url, "", BY_SITEMAP)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def crawl(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Read the queued pages side by side: store their text, keep their best links, note how they link."""
    batch = state.own.urls_to_process[: _count_pages_left(state)]
    urls = [state.own.all_discovered_urls[i] for i in batch]
    pages = tools.fetch_many(urls, skimmed=len(batch) > MAX_CAREFUL_BATCH)
    atlas, limits = UrlIndex(state.own), state.settings.site
    graph: dict[int, list[int]] = {}
    refs, actions, skimmed = [], [], list(state.own.skimmed)
    reason = (
        state.own.choices[-1].reasoning if state.own.choices else "This is where to start, by your choice."
    )
    for i, page in zip(batch, pages, strict=True):
        if len(batch) > MAX_CAREFUL_BATCH and page.outcome is Outcome.OK:
            page, skimmed = (
                (extract_fully(page), skimmed)
                if _has_question_word(state.own.search_text(state), page)
                else (page, [*skimmed, i])
            )
        page_id = tools.store_page(page) if page.outcome is Outcome.OK else ""
        links = reading.select_links(
            state.own.search_text(state), page.links, state.settings.source_filter, limits.max_links_per_page
        )
        graph[i] = list(dict.fromkeys(n for link in links if (n := atlas.add(link.url, link.text, i)) != i))
        refs.append(_build_page_ref(state, tools, i, page, page_id))
        actions.append(_build_action(tools, refs[-1], reason))
    reached = [atlas.find(page.final_url) for page in pages if page.outcome is Outcome.OK]
    met = [
        known
        for known in dict.fromkeys(reached)
        if known is not None and known not in batch and known not in state.own.visited_urls
    ]
    change: Change = {
        **atlas.to_change(),
        "urls_to_process": [],
        "visited_urls": [*(i for i in batch if i not in state.own.visited_urls), *met],
        "url_graph": graph,
        "pages": refs,
        "actions": actions,
        "skimmed": skimmed,
        "fetched": batch,
    }
    seen = [*state.own.visited_urls, *batch]
    for ref, i in zip(refs, batch, strict=True):
        ref.links = [state.own.all_discovered_urls[n] for n in graph[i] if n in seen][:50]
    now = merge(shallow_copy(state), to_jsonable(change))
    said = reading.read_pages(now, tools, batch)
    told = {ref.url: ref for ref in [*refs, *said.pop("pages")]}
    counted = [action.model_copy(update={"new_facts": told[action.query_or_url].facts}) for action in actions]
    return {**change, **said, "pages": list(told.values()), "actions": counted}, "decide"


def _count_pages_left(state: SiteRun) -> int:
    """Pages that may still be asked for: those of this round count, since the last answer or the fork."""
    return max(0, state.settings.site.max_pages - len(state.actions_this_round))


def _has_question_word(asked: str, page: Page) -> bool:
    """Does a word of the question stand on the page?"""
    return len(find_unseen_terms(asked, [page.title, page.text])) < len(parse_question(asked).weights)


def _build_page_ref(state: SiteRun, tools: RunContext, i: int, page: Page, page_id: str) -> PageRef:
    on = state.own.url_found_on.get(i, BY_PERSON)
    found_on = (
        "person" if on == BY_PERSON else "sitemap" if on == BY_SITEMAP else state.own.all_discovered_urls[on]
    )
    return PageRef(
        url=state.own.all_discovered_urls[i],
        page_id=page_id,
        final_url=page.final_url,
        title=page.title or state.own.url_texts.get(i, ""),
        outcome=page.outcome,
        detail=page.detail,
        found_on=found_on,
        step=tools.step,
    )


def _build_action(tools: RunContext, ref: PageRef, reason: str) -> Action:
    return Action(
        step=tools.step,
        action="crawl_url",
        query_or_url=ref.url,
        reasoning=reason,
        by="code",
        outcome=ref.outcome,
        detail=ref.detail,
        page_id=ref.page_id,
    )


def decide(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Answer, or explore which addresses? At a limit the answer is forced, and says so. What a person gave is
    weighed first."""
    if given := [
        i
        for i, url in enumerate(state.own.all_discovered_urls)
        if (ref := state.pages.get(url)) and ref.waiting
    ]:
        change = reading.read_pages(state, tools, given)
        decided, next = _decide_next(merge(shallow_copy(state), to_jsonable(change)), tools)
        return {**change, **decided}, next
    return _decide_next(state, tools)


def _decide_next(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    limits, left = state.settings.site, _count_pages_left(state)
    wanted = fact_view.requested_retry(state)
    if wanted and left and (again := UrlIndex(state.own).find(wanted.query_or_url)) is not None:
        return {"urls_to_process": [again]}, "crawl"
    if state.needs_rewrite:
        why = "You gave a page: the answer takes it in."
        choice = ExplorationChoice(
            step=tools.step,
            iteration=state.own.current_iteration,
            decision="answer",
            reasoning=why,
            by="code",
        )
        return {**_choice_change(choice), "why_stopped": ""}, "draft"
    unvisited = reading.rank_unvisited(state)
    forced = _explain_forced_answer(state, left, unvisited)
    if (
        not left
        and unvisited
        and state.settings.at_cap == "ask"
        and state.current_confidence < fact_view.confidence_goal(state)
    ):
        raise BudgetSpent(forced, cap="pages", used=limits.max_pages, limit=limits.max_pages)
    if forced:
        useful = sorted(
            (i for i, level in state.own.bearings.items() if level), key=lambda i: -state.own.bearings[i]
        )[:5]
        limit = forced if unvisited else ""
        choice = ExplorationChoice(
            step=tools.step,
            iteration=state.own.current_iteration,
            decision="answer",
            reasoning=forced,
            by="code",
            forced=limit,
        )
        ended = {"why_stopped": limit, "stop_reason": "budget" if limit else "enough"}
        return {**_choice_change(choice), **ended, "useful_visited_indices": useful}, "draft"
    most = min(limits.max_urls_per_iteration, left)
    blanks: dict[str, Any] = {
        "question": state.question,
        "history": state.history,
        "instruction": state.settings.instruction,
        "notes": [note.text for note in state.notes],
        "pages": _pages_for_prompt(state, tools),
        "graph": {i: state.own.url_graph.get(i, []) for i in state.own.visited_urls[-30:]},
        "unvisited": unvisited,
        "iteration": state.own.current_iteration,
        "max_iterations": limits.max_iterations,
        "max_urls": most,
        "missing": reading.find_missing_terms(state, tools),
    }
    judgement = tools.judge(SITE_DECISION, **blanks)
    reply: AgentDecision = judgement.value
    selected, refusals = _validate_selection(reply, {address.index for address in unvisited})
    by, reasoning = judgement.by, reply.reasoning
    if reply.decision == "explore" and not selected:
        second: AgentDecision = SITE_DECISION.fallback(**blanks)  # type: ignore[assignment]
        by, reasoning, selected, reply = "keyless", second.reasoning, second.selected_url_indices, second
    choice = ExplorationChoice(
        step=tools.step,
        iteration=state.own.current_iteration,
        decision=reply.decision,
        reasoning=reasoning,
        selected=selected[:most] if reply.decision == "explore" else [],
        by=by,
        trouble=judgement.fallback_reason,
    )
    useful = [i for i in reply.useful_visited_indices if i in state.own.url_content(state)]
    change = {**_choice_change(choice), "useful_visited_indices": useful, "refusals": refusals}
    if judgement.by == "model" and reply.standalone_question.strip():
        change["asked"] = reply.standalone_question.strip()[:1000]
    if choice.decision == "explore":
        return {
            **change,
            "urls_to_process": choice.selected,
            "current_iteration": state.own.current_iteration + 1,
        }, "crawl"
    return {**change, "why_stopped": "", "stop_reason": "enough"}, "draft"


def _explain_forced_answer(state: SiteRun, left: int, unvisited: list[UnvisitedUrl]) -> str:
    """Why no more may be explored, as a sentence; "" when it may."""
    if state.own.current_iteration >= state.settings.site.max_iterations:
        return f"All {state.settings.site.max_iterations} explorations of this round are used, so it was time to answer."
    if not left:
        return f"All {state.settings.site.max_pages} pages of this round are read, so it was time to answer."
    return "" if unvisited else "There is no further address to explore."


def _choice_change(choice: ExplorationChoice) -> Change:
    return {"choices": [choice], "decision_reasoning": choice.reasoning, "urls_to_process": []}


def _validate_selection(reply: AgentDecision, known: set[int]) -> tuple[list[int], list[Refusal]]:
    """The chosen indices that exist, each once; the others are refused and counted."""
    chosen = list(dict.fromkeys(reply.selected_url_indices)) if reply.decision == "explore" else []
    why = "the decision chose an address that is not among the unvisited ones"
    refused = [Refusal(what=f"address {i}", why=why) for i in chosen if i not in known]
    return [i for i in chosen if i in known], refused


def _pages_for_prompt(state: SiteRun, tools: RunContext) -> list[SitePage]:
    """The visited pages as a decision sees them: the windows of their best passages."""
    texts: dict[str, list[str]] = {}
    for passage in reading.passages_for_prompt(state, tools) if tools.client else []:
        texts.setdefault(passage.page_id, []).append(passage.text)
    limits = state.settings.site
    return [
        SitePage(
            index=i,
            url=reading.shorten_url(state.own.all_discovered_urls[i], limits),
            title=state.pages[state.own.all_discovered_urls[i]].title,
            text="\n".join(texts.get(page_id, [])),
            relevance=state.own.bearings.get(i, 0.0),
        )
        for i, page_id in state.own.url_content(state).items()
    ]


def reconsider(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """An answer was sent back: weigh what was read by the person's note too, and explore anew where that
    needs more."""
    change = reading.read_pages(state, tools, list(state.own.url_content(state)))
    return {**change, "current_iteration": 0}, "decide"


def draft(state: SiteRun, tools: RunContext) -> tuple[Change, str]:
    """Write the answer from what was read, or refuse; from the accepted facts alone once a person has edited
    them."""
    if state.edits:
        return {"answers": [rewrite_answer(state, tools)]}, "review"
    passages = reading.passages_for_prompt(state, tools)
    hosts = list(dict.fromkeys(host(url) for url in state.settings.start_urls))
    away = find_unseen_terms(state.question, _known_texts(state, tools))
    judgement = tools.judge(
        DRAFT,
        question=state.question,
        asked=state.asked or state.question,
        history=state.history,
        instruction=state.settings.instruction,
        notes=[note.text for note in state.notes],
        reasoning=state.own.decision_reasoning,
        passages=passages,
        strange=away,
        site=", ".join(hosts),
        forced=state.own.choices[-1].forced if state.own.choices else "",
        former=state.answer.text if state.answer else "",
    )
    return answer_from_draft(state, tools, judgement, passages), "review"


def _known_texts(state: SiteRun, tools: RunContext) -> list[str]:
    """All that is known of the site: its addresses, link texts and the pages read."""
    texts = [
        " ".join(state.own.url_texts.values()),
        " ".join(split_path_words(url) for url in state.own.all_discovered_urls),
    ]
    for page_id in state.own.url_content(state).values():
        page = tools.page(page_id)
        texts += [page.title, page.text]
    return texts


SITE = Flow(
    name="site",
    first_step="recall",
    own_state=SiteState,
    steps={
        "recall": recall,
        "survey": survey,
        "crawl": crawl,
        "decide": decide,
        "reconsider": reconsider,
        "draft": draft,
    },
    rest_statuses={"review": Status.REVIEW, "done": Status.DONE},
    write_up_step="draft",
    reentry_step="reconsider",
    describe_step=describe_step,
    find_pause_request=fact_view.pause_for_new_conflicts,
    edges=(
        Edge(start="recall", end="survey", label="pages to read"),
        Edge(start="recall", end="decide", label="all known"),
        Edge(start="recall", end="done", label="thanks, a greeting"),
        Edge(start="survey", end="crawl"),
        Edge(start="crawl", end="decide"),
        Edge(start="decide", end="crawl", label="explore"),
        Edge(start="decide", end="draft", label="answer"),
        Edge(start="draft", end="review"),
        Edge(start="review", end="reconsider", label="sent back"),
        Edge(start="reconsider", end="decide"),
        Edge(start="review", end="draft", label="facts edited"),
        Edge(start="review", end="done", label="accepted"),
    ),
    apply_person_edits=recompute.apply_person_edits,
)
