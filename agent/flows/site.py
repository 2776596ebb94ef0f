"""The site flow: answer a question from chosen websites, reading as little as it takes.

recall -> survey -> crawl -> decide -> crawl … -> draft -> review. `recall` takes over what the conversation has read already,
`survey` asks for the sitemaps, `crawl` reads a batch side by side, `decide` chooses between answering and exploring, `draft`
writes or refuses. The table closes the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from agent.errors import BudgetSpent
from agent.flows import moves, recalling, revising
from agent.flows import site_reading as reading
from agent.flows.research import summary
from agent.flows.rewriting import written
from agent.flows.site_answer import answer_of
from agent.flows.site_state import BY_PERSON, BY_SITEMAP, Atlas, Choice, Site, Sitemap
from agent.loop import Flow
from agent.roles.draft import DRAFT
from agent.roles.site_decision import SITE_DECISION, AgentDecision, SitePage, Unvisited
from agent.state import Change, fork, jsonable, merge
from agent.text.addresses import path_words
from agent.text.followup import standalone
from agent.text.question import read
from agent.text.strange import strange
from agent.toolbox import Tools
from agent.tools.skim import again
from agent.types import Action, Edge, Link, Outcome, Page, PageRef, Reach, Refusal, Status
from agent.urls import canonical, host

SITEMAPS = 8
"""Sitemap files that are asked for at most, lists of sitemaps included."""
FROM_SITEMAP = 300
"""Addresses of one sitemap that become candidates: those that bear most on the question."""
CAREFUL = 10
"""A batch up to this size is read with care; of a larger one only the pages that hold a word of the question."""
_SITEMAP_LINE = re.compile(r"^\s*sitemap:\s*(\S+)", re.IGNORECASE | re.MULTILINE)


def recall(state: Site, tools: Tools) -> tuple[Change, str]:
    """Begin: understand the question in its conversation, take over its pages and graph, put the start pages in the queue."""
    if polite := moves.in_kind(state, tools.step):
        return {"asked": state.question, "answers": [polite], "stop_reason": "enough"}, "done"
    former = recalling.earlier(state, tools)
    known = _texts(former, tools) if former else []
    asked = standalone(state.question, state.history, unheard=lambda word: bool(known and strange(word, known)))
    change: Change = {"asked": asked, "current_iteration": 0}
    if former:
        change |= recalling.taken_over(state, former, tools)
        change["facts"] = recalling.judged(merge(fork(state), jsonable(change)), former, asked)
    now = merge(fork(state), jsonable(change))
    atlas = Atlas(now)
    start = [atlas.index(url, found_on=BY_PERSON) for url in state.settings.start_urls if canonical(url)]
    queue = [i for i in dict.fromkeys(start) if i not in now.visited_urls]
    _remember(now, tools, atlas)
    added = atlas.change()
    for name in ("all_discovered_urls", "url_texts", "url_found_on"):
        old = change.get(name)
        change[name] = added[name] if old is None else [*old, *added[name]] if isinstance(old, list) else {**old, **added[name]}
    if former:
        merged = merge(now, jsonable(added))
        recalled = _of_recalled(merged, tools)
        change |= {**recalled, "facts": [*change["facts"], *recalled["facts"]]}
    return {**change, "urls_to_process": queue}, "survey" if queue else "decide"


def _remember(state: Site, tools: Tools, atlas: Atlas) -> None:
    """Of the stored pages and sitemaps, the addresses that bear on this question: former ones were chosen for another."""
    limits, reach = state.settings.site, state.settings.reach
    asked = state.asked
    for i, page_id in state.url_content.items():
        for link in reading.worth_keeping(asked, tools.page(page_id).links, reach, limits.max_links_per_page):
            atlas.index(link.url, link.text, i)
    for sitemap in state.sitemaps.values():
        if sitemap.page_id:
            _take(reading.listed(tools.page(sitemap.page_id, raw=True)), asked, reach, atlas)


def _of_recalled(state: Site, tools: Tools) -> Change:
    """What the recalled pages say on this question; those only skimmed so far are read with care now."""
    refs = []
    for i in state.skimmed:
        url, page_id = state.all_discovered_urls[i], state.url_content.get(i)
        if page_id and _bears(state.asked, stored := tools.page(page_id, raw=True)):
            careful = again(stored)
            refs.append(state.pages[url].model_copy(update={"page_id": tools.keep(careful) if careful.outcome is Outcome.OK else page_id}))
    now = merge(fork(state), jsonable({"pages": refs}))
    change = reading.read_pages(now, tools, list(now.url_content))
    kept = {ref.url: ref for ref in [*now.pages.values(), *change.pop("pages")]}
    return {**change, "pages": list(kept.values())}


def survey(state: Site, tools: Tools) -> tuple[Change, str]:
    """Ask the start pages' hosts for their sitemaps (robots.txt names them); the best addresses become candidates."""
    reach, atlas = state.settings.reach, Atlas(state)
    origins = list(dict.fromkeys(_origin(state.all_discovered_urls[i]) for i in state.urls_to_process))
    origins = [origin for origin in origins if reach.admits(origin) and f"{origin}/sitemap.xml" not in state.sitemaps]
    robots = tools.fetch_many([f"{origin}/robots.txt" for origin in origins], leading=True)
    queue: list[str] = []
    for origin, page in zip(origins, robots, strict=True):
        told = _SITEMAP_LINE.findall(page.text) if page.outcome is Outcome.OK else []
        queue += [url for url in told if reach.admits(url)] or [f"{origin}/sitemap.xml"]
    found: dict[str, Sitemap] = {}
    while (batch := [url for url in dict.fromkeys(queue) if url not in found and url not in state.sitemaps][: SITEMAPS - len(found)]):
        for url, page in zip(batch, tools.fetch_many(batch, leading=True), strict=True):
            places = reading.listed(page) if page.raw else []
            nested = [place for place in places if _is_sitemap(place, page)]
            queue += [place for place in _by_question(nested, state.asked) if reach.admits(place)]
            _take([place for place in places if place not in nested], state.asked, reach, atlas)
            kept = tools.keep(page) if page.outcome in (Outcome.OK, Outcome.UNSUPPORTED) and places else ""
            found[url] = Sitemap(url=url, page_id=kept, addresses=len(places), outcome=page.outcome, detail=page.detail)
    return {**atlas.change(), "sitemaps": list(found.values())}, "crawl"


def _is_sitemap(place: str, page: Page) -> bool:
    return b"<sitemapindex" in page.raw[:2000] or urlsplit(place).path.endswith((".xml", ".xml.gz"))


def _by_question(places: list[str], asked: str) -> list[str]:
    """Nested sitemaps, those first whose names share words with the question."""
    best = {link.url for link in reading.worth_keeping(asked, [Link(url=place) for place in places], Reach(), SITEMAPS)}
    return sorted(places, key=lambda place: place not in best)


def _take(places: Iterable[str], asked: str, reach: Reach, atlas: Atlas) -> None:
    for link in reading.worth_keeping(asked, (Link(url=place) for place in places), reach, FROM_SITEMAP):
        atlas.index(link.url, "", BY_SITEMAP)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def crawl(state: Site, tools: Tools) -> tuple[Change, str]:
    """Read the queued pages side by side: store their text, keep their best links, note how they link."""
    batch = state.urls_to_process[: _left(state)]
    urls = [state.all_discovered_urls[i] for i in batch]
    pages = tools.fetch_many(urls, skimmed=len(batch) > CAREFUL)
    atlas, limits = Atlas(state), state.settings.site
    graph: dict[int, list[int]] = {}
    refs, actions, skimmed = [], [], list(state.skimmed)
    reason = state.choices[-1].reasoning if state.choices else "This is where to start, by your choice."
    for i, page in zip(batch, pages, strict=True):
        if len(batch) > CAREFUL and page.outcome is Outcome.OK:
            page, skimmed = (again(page), skimmed) if _bears(state.asked, page) else (page, [*skimmed, i])
        page_id = tools.keep(page) if page.outcome is Outcome.OK else ""
        links = reading.worth_keeping(state.asked, page.links, state.settings.reach, limits.max_links_per_page)
        graph[i] = list(dict.fromkeys(n for link in links if (n := atlas.index(link.url, link.text, i)) != i))
        refs.append(_ref(state, tools, i, page, page_id))
        actions.append(_action(tools, refs[-1], reason))
    reached = [atlas.known(page.final_url) for page in pages if page.outcome is Outcome.OK]
    met = [known for known in dict.fromkeys(reached) if known is not None and known not in batch and known not in state.visited_urls]
    change: Change = {
        **atlas.change(), "urls_to_process": [], "visited_urls": [*(i for i in batch if i not in state.visited_urls), *met],
        "url_graph": graph, "pages": refs, "actions": actions, "skimmed": skimmed, "fetched": batch,
    }  # fmt: skip
    seen = [*state.visited_urls, *batch]
    for ref, i in zip(refs, batch, strict=True):
        ref.links = [state.all_discovered_urls[n] for n in graph[i] if n in seen][:50]
    now = merge(fork(state), jsonable(change))
    said = reading.read_pages(now, tools, batch)
    told = {ref.url: ref for ref in [*refs, *said.pop("pages")]}
    counted = [action.model_copy(update={"new_facts": told[action.query_or_url].facts}) for action in actions]
    return {**change, **said, "pages": list(told.values()), "actions": counted}, "decide"


def _left(state: Site) -> int:
    """Pages that may still be asked for: those of this round count, since the last answer or the fork."""
    return max(0, state.settings.site.max_pages - len(state.fresh_actions))


def _bears(asked: str, page: Page) -> bool:
    """Does a word of the question stand on the page?"""
    return len(strange(asked, [page.title, page.text])) < len(read(asked).weights)


def _ref(state: Site, tools: Tools, i: int, page: Page, page_id: str) -> PageRef:
    on = state.url_found_on.get(i, BY_PERSON)
    found_on = "person" if on == BY_PERSON else "sitemap" if on == BY_SITEMAP else state.all_discovered_urls[on]
    return PageRef(
        url=state.all_discovered_urls[i], page_id=page_id, final_url=page.final_url, title=page.title or state.url_texts.get(i, ""),
        outcome=page.outcome, detail=page.detail, found_on=found_on, step=tools.step,
    )  # fmt: skip


def _action(tools: Tools, ref: PageRef, reason: str) -> Action:
    return Action(
        step=tools.step, action="crawl_url", query_or_url=ref.url, reasoning=reason, by="code", outcome=ref.outcome, detail=ref.detail,
        page_id=ref.page_id,
    )  # fmt: skip


def decide(state: Site, tools: Tools) -> tuple[Change, str]:
    """Answer, or explore which addresses? At a limit the answer is forced, and says so. What a person gave is weighed first."""
    if given := [i for i, url in enumerate(state.all_discovered_urls) if (ref := state.pages.get(url)) and ref.waiting]:
        change = reading.read_pages(state, tools, given)
        decided, next = _decided(merge(fork(state), jsonable(change)), tools)
        return {**change, **decided}, next
    return _decided(state, tools)


def _decided(state: Site, tools: Tools) -> tuple[Change, str]:
    limits, left = state.settings.site, _left(state)
    wanted = moves.again(state)
    if wanted and left and (again := Atlas(state).known(wanted.query_or_url)) is not None:
        return {"urls_to_process": [again]}, "crawl"
    if state.rewritten:
        why = "You gave a page: the answer takes it in."
        choice = Choice(step=tools.step, iteration=state.current_iteration, decision="answer", reasoning=why, by="code")
        return {**_chosen(choice), "why_stopped": ""}, "draft"
    unvisited = reading.unvisited(state)
    forced = _forced(state, left, unvisited)
    if not left and unvisited and state.settings.at_cap == "ask" and state.level < moves.goal(state):
        raise BudgetSpent(forced, cap="pages", used=limits.max_pages, limit=limits.max_pages)
    if forced:
        useful = sorted((i for i, level in state.bearings.items() if level), key=lambda i: -state.bearings[i])[:5]
        limit = forced if unvisited else ""
        choice = Choice(step=tools.step, iteration=state.current_iteration, decision="answer", reasoning=forced, by="code", forced=limit)
        ended = {"why_stopped": limit, "stop_reason": "budget" if limit else "enough"}
        return {**_chosen(choice), **ended, "useful_visited_indices": useful}, "draft"
    most = min(limits.max_urls_per_iteration, left)
    blanks: dict[str, Any] = {
        "question": state.question, "history": state.history, "instruction": state.settings.instruction, "notes": [note.text for note in state.notes],
        "pages": _shown(state, tools), "graph": {i: state.url_graph.get(i, []) for i in state.visited_urls[-30:]}, "unvisited": unvisited,
        "iteration": state.current_iteration, "max_iterations": limits.max_iterations, "max_urls": most,
        "missing": reading.lacking(state, tools),
    }  # fmt: skip
    judgement = tools.judge(SITE_DECISION, **blanks)
    reply: AgentDecision = judgement.value
    selected, refusals = _selected(reply, {address.index for address in unvisited})
    by, reasoning = judgement.by, reply.reasoning
    if reply.decision == "explore" and not selected:
        second: AgentDecision = SITE_DECISION.keyless(**blanks)  # type: ignore[assignment]
        by, reasoning, selected, reply = "keyless", second.reasoning, second.selected_url_indices, second
    choice = Choice(
        step=tools.step, iteration=state.current_iteration, decision=reply.decision, reasoning=reasoning,
        selected=selected[:most] if reply.decision == "explore" else [], by=by, trouble=judgement.trouble,
    )  # fmt: skip
    useful = [i for i in reply.useful_visited_indices if i in state.url_content]
    change = {**_chosen(choice), "useful_visited_indices": useful, "refusals": refusals}
    if judgement.by == "model" and reply.standalone_question.strip():
        change["asked"] = reply.standalone_question.strip()[:1000]
    if choice.decision == "explore":
        return {**change, "urls_to_process": choice.selected, "current_iteration": state.current_iteration + 1}, "crawl"
    return {**change, "why_stopped": "", "stop_reason": "enough"}, "draft"


def _forced(state: Site, left: int, unvisited: list[Unvisited]) -> str:
    """Why no more may be explored, as a sentence; "" when it may."""
    if state.current_iteration >= state.settings.site.max_iterations:
        return f"All {state.settings.site.max_iterations} explorations of this round are used, so it was time to answer."
    if not left:
        return f"All {state.settings.site.max_pages} pages of this round are read, so it was time to answer."
    return "" if unvisited else "There is no further address to explore."


def _chosen(choice: Choice) -> Change:
    return {"choices": [choice], "decision_reasoning": choice.reasoning, "urls_to_process": []}


def _selected(reply: AgentDecision, known: set[int]) -> tuple[list[int], list[Refusal]]:
    """The chosen indices that exist, each once; the others are refused and counted."""
    chosen = list(dict.fromkeys(reply.selected_url_indices)) if reply.decision == "explore" else []
    why = "the decision chose an address that is not among the unvisited ones"
    refused = [Refusal(what=f"address {i}", why=why) for i in chosen if i not in known]
    return [i for i in chosen if i in known], refused


def _shown(state: Site, tools: Tools) -> list[SitePage]:
    """The visited pages as a decision sees them: the windows of their best passages."""
    texts: dict[str, list[str]] = {}
    for passage in reading.knowledge(state, tools) if tools.client else []:
        texts.setdefault(passage.page_id, []).append(passage.text)
    limits = state.settings.site
    return [
        SitePage(
            index=i, url=reading.shortened(state.all_discovered_urls[i], limits), title=state.pages[state.all_discovered_urls[i]].title,
            text="\n".join(texts.get(page_id, [])), bearing=state.bearings.get(i, 0.0),
        )
        for i, page_id in state.url_content.items()
    ]  # fmt: skip


def reconsider(state: Site, tools: Tools) -> tuple[Change, str]:
    """An answer was sent back: weigh what was read by the person's note too, and explore anew where that needs more."""
    change = reading.read_pages(state, tools, list(state.url_content))
    return {**change, "current_iteration": 0}, "decide"


def draft(state: Site, tools: Tools) -> tuple[Change, str]:
    """Write the answer from what was read, or refuse; from the accepted facts alone once a person has edited them."""
    if state.edits:
        return {"answers": [written(state, tools)]}, "review"
    passages = reading.knowledge(state, tools)
    hosts = list(dict.fromkeys(host(url) for url in state.settings.start_urls))
    away = strange(state.question, _texts(state, tools))
    judgement = tools.judge(
        DRAFT, question=state.question, asked=state.asked or state.question, history=state.history, instruction=state.settings.instruction,
        notes=[note.text for note in state.notes], reasoning=state.decision_reasoning, passages=passages, strange=away,
        site=", ".join(hosts), forced=state.choices[-1].forced if state.choices else "", former=state.answer.text if state.answer else "",
    )  # fmt: skip
    return answer_of(state, tools, judgement, passages), "review"


def _texts(state: Site, tools: Tools) -> list[str]:
    """All that is known of the site: its addresses, link texts and the pages read."""
    texts = [" ".join(state.url_texts.values()), " ".join(path_words(url) for url in state.all_discovered_urls)]
    for page_id in state.url_content.values():
        page = tools.page(page_id)
        texts += [page.title, page.text]
    return texts


SITE = Flow(
    name="site",
    first="recall",
    state=Site,
    steps={"recall": recall, "survey": survey, "crawl": crawl, "decide": decide, "reconsider": reconsider, "draft": draft},
    rests={"review": Status.REVIEW, "done": Status.DONE},
    on_budget="draft",
    again="reconsider",
    summary=summary,
    asks=moves.clash,
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
    heed=revising.heeded,
)
