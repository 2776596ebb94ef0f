"""The collecting flow: from start pages to articles and threads, one decision a page, and a digest of what
was gathered.

intent -> decide -> crawl -> judge -> gather | links -> decide ... -> relevance -> decide | report -> review.
Going step by step, the run shows the path ahead (which pages, why) and waits whenever new pages were opened.
The table closes the file."""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.engine.loop import Flow
from agent.engine.state import Change, merge, shallow_copy, to_jsonable
from agent.errors import BudgetSpent
from agent.flows.collect import event_log, extract, stop_reason
from agent.flows.collect.constraints import drop_ruled_out, list_instructions
from agent.flows.collect.digest import build_digest, list_digest_items
from agent.flows.collect.filter import filter_items
from agent.flows.collect.frontier import (
    choose_next_page,
    explain_nothing_followed,
    explain_visit,
    find_continuation,
    find_limit_met,
    find_start_pages,
    is_past_time_range,
    open_ranked_links,
    record_dropped_links,
    sort_links,
)
from agent.flows.collect.page_decision import judge, judge_plainly
from agent.flows.collect.parsed_page import parse_page
from agent.flows.collect.state import CollectRun, CollectState
from agent.flows.research.flow import summarize_state
from agent.flows.shared import fact_view
from agent.roles.collect.digest import DIGEST
from agent.roles.collect.intent import INTENT
from agent.roles.collect.link_ranking import LINK_RANKING
from agent.text import negative_constraints
from agent.text.urls import canonicalize
from agent.types import Action, Edge, Outcome, PageRef, Proposal, Refusal, Status
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode

LINKS_SHOWN = 80
"""Links of one page that the ranking is shown."""


def intent(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Read the prompt, and put the start pages at the root of the tree. After a send-back everything gathered
    is judged anew."""
    limit, today = state.settings.collect.max_articles, tools.today()
    judgement = tools.judge(
        INTENT, prompt=state.question, notes=list_instructions(state), today=today, max_articles=limit
    )
    reply = judgement.value
    days = reply.time_range_days if reply.time_range_days and reply.time_range_days > 0 else None
    wanted = CollectIntent(
        topic=" ".join(reply.topic.split())[:300],
        target_section=" ".join(reply.target_section.lower().split())[:60],
        time_range_days=days,
        max_articles=max(1, min(reply.max_articles or limit, limit)),
        leave_out=_find_exclusions(state, reply.leave_out),
    )
    known = state.model_copy(update={"intent": wanted, "today": today})
    begins = find_start_pages(state)
    change: Change = {
        "heard": len(state.notes),
        "intent": wanted,
        "intent_by": judgement.by,
        "intent_trouble": judgement.fallback_reason,
        "today": today,
        "why_stopped": "",
        "stop_reason": "",
        "tree": [*begins, *_reopen_in_range(known), *drop_ruled_out(state)],
        "items": [
            item.model_copy(update={"status": "new", "reason": ""}) for item in state.own.items.values()
        ],
    }
    if not begins and not state.own.tree:
        return {**change, "why_stopped": "no start page was named", "stop_reason": "blocked"}, "report"
    return change, "decide"


def _find_exclusions(state: CollectRun, heard: list[str]) -> list[str]:
    """What is to be left out, as the role heard it; what it missed is taken from the words themselves."""
    said = [
        part
        for text in (state.question, *list_instructions(state))
        for part in negative_constraints.keep_topic_constraints(
            negative_constraints.split_negative_constraints(text)[1]
        )
    ]
    return [" ".join(part.split())[:200] for part in heard if part.strip()][:10] or said[:10]


def _reopen_in_range(state: CollectRun) -> list[CrawlNode]:
    """Entries that were left out for their date and are inside the time range as it is wanted now."""
    left = [
        branch for branch in state.own.tree.values() if branch.status == "dropped" and branch.detected_date
    ]
    return [
        branch.model_copy(update={"status": "open", "ended": ""})
        for branch in left
        if not state.own.is_too_old(state, branch.detected_date)
    ]


def decide(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Which page is next; or, with nothing left or enough gathered, the judgement of what was gathered, then
    the digest."""
    if len(state.notes) > state.own.heard:
        return {"pending": None}, "intent"
    limits = state.settings.collect
    following_up = choose_next_page(state)
    used = len(state.actions_this_round)
    if used >= limits.max_pages and following_up is not None:
        if state.settings.at_cap == "ask":
            raise BudgetSpent(
                stop_reason.describe_page_cap(state), cap="pages", used=used, limit=limits.max_pages
            )
        return _end_walk(state, *stop_reason.end_by_page_cap(state))
    if following_up is None:
        return _end_walk(state, *stop_reason.explain_end(state))
    proposal = Proposal(
        next_action="crawl_url",
        query_or_url=following_up.url,
        reasoning=explain_visit(following_up),
        by="code",
    )
    change: Change = {"pending": proposal, "here": following_up.id}
    ahead = [branch.id for branch in state.own.frontier(state)]
    unseen = [
        branch
        for branch in state.own.frontier(state)
        if branch.id not in state.own.shown and branch.parent and branch.continues != "thread"
    ]
    if state.settings.stop_point == "step" and unseen:
        return {
            **change,
            "shown": [*state.own.shown, *(name for name in ahead if name not in state.own.shown)],
        }, "approve"
    return change, "crawl"


def _end_walk(state: CollectRun, told: str, reason: str) -> tuple[Change, str]:
    change: Change = {"why_stopped": told, "stop_reason": reason, "pending": None}
    return change, "relevance" if state.own.unjudged_items else "report"


def crawl(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Fetch a page and store it. What fails ends its branch, never the run."""
    pending = state.pending
    url = pending.query_or_url if pending else state.own.tree[state.own.here].url
    name = canonicalize(url)
    branch = state.own.tree.get(name) or CrawlNode(
        id=name, url=url, path=[len(state.own.tree)], anchor="given by you"
    )
    page = tools.fetch(url, leading=True)
    read = page.outcome is Outcome.OK
    page_id = tools.store_page(page) if read else ""
    circle = (
        read
        and canonicalize(page.final_url) != name
        and canonicalize(page.final_url) in fact_view.visited_urls(state)
    )
    ended = (
        f"It leads to a page that was visited before: {page.final_url}."
        if circle
        else ""
        if read
        else page.detail
    )
    branch = branch.model_copy(
        update={
            "status": "visited",
            "outcome": page.outcome,
            "detail": page.detail,
            "page_id": page_id,
            "sha256": page.sha256 if read else "",
            "title": page.title,
            "step": tools.step,
            "ended": ended,
        }
    )
    parent = state.own.tree.get(branch.parent)
    ref = PageRef(
        url=url,
        page_id=page_id,
        final_url=page.final_url,
        title=page.title,
        outcome=page.outcome,
        detail=page.detail,
        found_on=parent.url if parent else "person",
        step=tools.step,
    )
    action = Action(
        step=tools.step,
        action="crawl_url",
        query_or_url=url,
        reasoning=pending.reasoning if pending else "",
        by=pending.by if pending else "code",
        outcome=page.outcome,
        detail=page.detail,
        page_id=page_id,
    )
    change: Change = {
        "actions": [action],
        "pages": [ref],
        "pending": None,
        "here": name,
        "tree": [branch, *_drop_replaced_page(state, name)],
    }
    if ended:
        return {**change, "events": [event_log.log_stop(tools, branch, ended)]}, "decide"
    return change, "judge"


def _drop_replaced_page(state: CollectRun, name: str) -> list[CrawlNode]:
    """The page that was up next, when a person chose another one instead."""
    former = state.own.tree.get(state.own.here)
    if former is None or former.id == name or former.status != "open":
        return []
    return [former.model_copy(update={"status": "dropped", "ended": "You chose another page instead."})]


def links(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Rank a listing's links and open the best; its next page stays at its depth, and waits behind its
    entries."""
    branch = state.own.tree[state.own.here]
    sight = parse_page(state, tools, branch)
    above = state.own.tree.get(branch.parent) if branch.continues == "listing" else None
    former = (
        {
            canonicalize(offer.url)
            for offer in parse_page(state, tools, above).link_candidates
            if offer.content
        }
        if above and above.page_id
        else set()
    )
    found = sort_links(state, branch, sight, former)
    dated = any(offer.date and offer.content for offer in [*found.fresh, *found.old])
    children: list[CrawlNode] = []
    refused: list[Refusal] = []
    trouble = ""
    if found.fresh:
        judgement = tools.judge(
            LINK_RANKING,
            intent=state.own.effective_intent(state),
            url=branch.url,
            title=sight.page.title,
            today=state.own.today,
            limit=state.settings.collect.max_links,
            dated=dated,
            links=sorted(found.fresh, key=lambda offer: not (offer.content and offer.date))[:LINKS_SHOWN],
        )
        children, refused = open_ranked_links(state, branch, judgement.value.links, found.fresh, tools.step)
        trouble = judgement.fallback_reason
    on = find_continuation(state, branch, sight, "listing")
    if on and is_past_time_range(state, sight):
        on = on.model_copy(
            update={
                "status": "dropped",
                "ended": "The listing is newest first, and its last entry is too old already.",
            }
        )
    live = [child for child in [*children, *([on] if on else [])] if child.status == "open"]
    ended = "" if live else explain_nothing_followed(found)
    held = find_limit_met(state, found, children)
    branch = branch.model_copy(update={"ended": ended, "held": held, "trouble": branch.trouble or trouble})
    change: Change = {
        "tree": [branch, *children, *record_dropped_links(state, branch, found), *([on] if on else [])],
        "refusals": refused,
        "pages": [_page_with_links(state, branch, [child.url for child in live])],
        "events": [event_log.log_stop(tools, branch, ended)] if ended else [],
    }
    return change, "decide"


def _page_with_links(state: CollectRun, branch: CrawlNode, urls: list[str]) -> PageRef:
    return state.pages[branch.url].model_copy(update={"links": urls})


def gather(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Take the content of a page; a thread's next page is read right after it."""
    branch = state.own.tree[state.own.here]
    sight = parse_page(state, tools, branch)
    thread = state.own.items.get(branch.item_id) if branch.continues == "thread" else None
    item: CollectedItem = (
        extract.append_thread_page(thread, branch, sight)
        if thread
        else extract.extract_item(state, tools, branch, sight)
    )
    branch = branch.model_copy(update={"item_id": item.id})
    smart = state.settings.collect.use_smart_navigation
    on = find_continuation(state, branch, sight, "thread") if item.posts and smart else None
    return {
        "items": [item],
        "tree": [branch, *([on] if on else [])],
        "events": [event_log.log_extraction(tools, branch)],
    }, "decide"


def relevance(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Judge what was gathered. With too little kept and pages left, the walk goes on."""
    return filter_items(state, tools), "decide"


def report(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Write the digest for a person to review. What was gathered and not judged yet is judged first."""
    change = to_jsonable(filter_items(state, tools)) if state.own.unjudged_items else {}
    known = merge(shallow_copy(state), change) if change else state
    judgement = tools.judge(
        DIGEST,
        prompt=state.question,
        notes=list_instructions(state),
        intent=known.own.effective_intent(known),
        items=list_digest_items(known),
        confidence=known.current_confidence,
        failures=[page for page in known.pages.values() if page.outcome is not Outcome.OK],
        why_stopped=known.why_stopped,
        former=known.answer,
    )
    return {**change, "answers": [build_digest(known, judgement, tools.step)], "pending": None}, "review"


COLLECT = Flow(
    name="collect",
    first_step="intent",
    own_state=CollectState,
    steps={
        "intent": intent,
        "decide": decide,
        "crawl": crawl,
        "judge": judge,
        "judge_plainly": judge_plainly,
        "links": links,
        "gather": gather,
        "relevance": relevance,
        "report": report,
    },
    rest_statuses={"approve": Status.WAITING, "review": Status.REVIEW, "done": Status.DONE},
    write_up_step="report",
    reentry_step="intent",
    summary=summarize_state,
    find_pause_request=fact_view.pause_for_new_conflicts,
    edges=(
        Edge(start="intent", end="decide"),
        Edge(start="intent", end="report", label="no start page"),
        Edge(start="decide", end="intent", label="a note came"),
        Edge(start="decide", end="crawl", label="next page", rest="approve"),
        Edge(start="decide", end="relevance", label="enough, or no page left"),
        Edge(start="decide", end="report", label="all judged"),
        Edge(start="crawl", end="judge"),
        Edge(start="crawl", end="decide", label="not readable"),
        Edge(start="judge", end="gather", label="EXTRACT_CONTENT"),
        Edge(start="judge", end="links", label="EXTRACT_LINKS"),
        Edge(start="judge", end="decide", label="NAVIGATE_TO, STOP"),
        Edge(start="judge", end="judge_plainly", label="the plain way"),
        Edge(start="judge_plainly", end="gather"),
        Edge(start="links", end="decide"),
        Edge(start="gather", end="decide"),
        Edge(start="relevance", end="decide"),
        Edge(start="report", end="review"),
        Edge(start="review", end="intent", label="sent back"),
        Edge(start="review", end="done", label="accepted"),
    ),
)
