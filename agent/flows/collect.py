"""The collecting flow: from start pages to articles and threads, one decision a page, and a digest of what was gathered.

intent -> decide -> crawl -> judge -> gather | links -> decide ... -> relevance -> decide | report -> review. Going step by step, the
run shows the path ahead (which pages, why) and waits whenever new pages were opened. The table closes the file.
"""

from __future__ import annotations

from agent.errors import BudgetSpent
from agent.flows import collect_content, collect_ending, collect_log, moves
from agent.flows.collect_digest import digest, told
from agent.flows.collect_judging import judge, judged_plainly
from agent.flows.collect_page import look
from agent.flows.collect_sifting import sift
from agent.flows.collect_state import Collect
from agent.flows.collect_walk import candidates, cut_off, dropped, following, opened, past, starts, unfollowed, upcoming, why
from agent.flows.collect_wishes import remarks, withdrawn
from agent.flows.research import summary
from agent.loop import Flow
from agent.roles.digest import DIGEST
from agent.roles.intent import INTENT
from agent.roles.link_ranking import LINK_RANKING
from agent.state import Change, fork, jsonable, merge
from agent.text import refusals
from agent.toolbox import Tools
from agent.types import Action, Edge, Outcome, PageRef, Proposal, Refusal, Status
from agent.types.collected import Branch, Intent, Item
from agent.urls import canonical

LINKS_SHOWN = 80
"""Links of one page that the ranking is shown."""


def intent(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Read the prompt, and put the start pages at the root of the tree. After a send-back everything gathered is judged anew."""
    limit, today = state.settings.collect.max_articles, tools.today()
    judgement = tools.judge(INTENT, prompt=state.question, notes=remarks(state), today=today, max_articles=limit)
    reply = judgement.value
    days = reply.time_range_days if reply.time_range_days and reply.time_range_days > 0 else None
    wanted = Intent(
        topic=" ".join(reply.topic.split())[:300], target_section=" ".join(reply.target_section.lower().split())[:60], time_range_days=days,
        max_articles=max(1, min(reply.max_articles or limit, limit)), leave_out=_unwanted(state, reply.leave_out),
    )  # fmt: skip
    known = state.model_copy(update={"intent": wanted, "today": today})
    begins = starts(state)
    change: Change = {
        "heard": len(state.notes), "intent": wanted, "intent_by": judgement.by, "intent_trouble": judgement.trouble, "today": today,
        "why_stopped": "", "stop_reason": "",
        "tree": [*begins, *_reopened(known), *withdrawn(state)],
        "items": [item.model_copy(update={"status": "new", "reason": ""}) for item in state.items.values()],
    }  # fmt: skip
    if not begins and not state.tree:
        return {**change, "why_stopped": "no start page was named", "stop_reason": "blocked"}, "report"
    return change, "decide"


def _unwanted(state: Collect, heard: list[str]) -> list[str]:
    """What is to be left out, as the role heard it; what it missed is taken from the words themselves."""
    said = [part for text in (state.question, *remarks(state)) for part in refusals.worded(refusals.split(text)[1])]
    return [" ".join(part.split())[:200] for part in heard if part.strip()][:10] or said[:10]


def _reopened(state: Collect) -> list[Branch]:
    """Entries that were left out for their date and are inside the time range as it is wanted now."""
    left = [branch for branch in state.tree.values() if branch.status == "dropped" and branch.detected_date]
    return [branch.model_copy(update={"status": "open", "ended": ""}) for branch in left if not state.too_old(branch.detected_date)]


def decide(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Which page is next; or, with nothing left or enough gathered, the judgement of what was gathered, then the digest."""
    if len(state.notes) > state.heard:
        return {"pending": None}, "intent"
    limits = state.settings.collect
    following_up = upcoming(state)
    used = len(state.fresh_actions)
    if used >= limits.max_pages and following_up is not None:
        if state.settings.at_cap == "ask":
            raise BudgetSpent(collect_ending.all_pages(state), cap="pages", used=used, limit=limits.max_pages)
        return _enough(state, *collect_ending.pages_used(state))
    if following_up is None:
        return _enough(state, *collect_ending.over(state))
    proposal = Proposal(next_action="crawl_url", query_or_url=following_up.url, reasoning=why(following_up), by="code")
    change: Change = {"pending": proposal, "here": following_up.id}
    ahead = [branch.id for branch in state.frontier]
    unseen = [branch for branch in state.frontier if branch.id not in state.shown and branch.parent and branch.continues != "thread"]
    if state.settings.stops_at == "step" and unseen:
        return {**change, "shown": [*state.shown, *(name for name in ahead if name not in state.shown)]}, "approve"
    return change, "crawl"


def _enough(state: Collect, told: str, reason: str) -> tuple[Change, str]:
    change: Change = {"why_stopped": told, "stop_reason": reason, "pending": None}
    return change, "relevance" if state.unjudged else "report"


def crawl(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Fetch a page and store it. What fails ends its branch, never the run."""
    pending = state.pending
    url = pending.query_or_url if pending else state.tree[state.here].url
    name = canonical(url)
    branch = state.tree.get(name) or Branch(id=name, url=url, path=[len(state.tree)], anchor="given by you")
    page = tools.fetch(url, leading=True)
    read = page.outcome is Outcome.OK
    page_id = tools.keep(page) if read else ""
    circle = read and canonical(page.final_url) != name and canonical(page.final_url) in moves.visited(state)
    ended = f"It leads to a page that was visited before: {page.final_url}." if circle else "" if read else page.detail
    branch = branch.model_copy(
        update={
            "status": "visited", "outcome": page.outcome, "detail": page.detail, "page_id": page_id, "sha256": page.sha256 if read else "",
            "title": page.title, "step": tools.step, "ended": ended,
        }
    )  # fmt: skip
    parent = state.tree.get(branch.parent)
    ref = PageRef(
        url=url, page_id=page_id, final_url=page.final_url, title=page.title, outcome=page.outcome, detail=page.detail,
        found_on=parent.url if parent else "person", step=tools.step,
    )  # fmt: skip
    action = Action(
        step=tools.step, action="crawl_url", query_or_url=url, reasoning=pending.reasoning if pending else "", by=pending.by if pending else "code",
        outcome=page.outcome, detail=page.detail, page_id=page_id,
    )  # fmt: skip
    change: Change = {"actions": [action], "pages": [ref], "pending": None, "here": name, "tree": [branch, *_replaced(state, name)]}
    if ended:
        return {**change, "events": [collect_log.stopped(tools, branch, ended)]}, "decide"
    return change, "judge"


def _replaced(state: Collect, name: str) -> list[Branch]:
    """The page that was up next, when a person chose another one instead."""
    former = state.tree.get(state.here)
    if former is None or former.id == name or former.status != "open":
        return []
    return [former.model_copy(update={"status": "dropped", "ended": "You chose another page instead."})]


def links(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Rank a listing's links and open the best; its next page stays at its depth, and waits behind its entries."""
    branch = state.tree[state.here]
    sight = look(state, tools, branch)
    above = state.tree.get(branch.parent) if branch.continues == "listing" else None
    former = {canonical(offer.url) for offer in look(state, tools, above).offers if offer.content} if above and above.page_id else set()
    found = candidates(state, branch, sight, former)
    dated = any(offer.date and offer.content for offer in [*found.fresh, *found.old])
    children: list[Branch] = []
    refused: list[Refusal] = []
    trouble = ""
    if found.fresh:
        judgement = tools.judge(
            LINK_RANKING, intent=state.wanted, url=branch.url, title=sight.page.title, today=state.today, limit=state.settings.collect.max_links,
            dated=dated, links=sorted(found.fresh, key=lambda offer: not (offer.content and offer.date))[:LINKS_SHOWN],
        )  # fmt: skip
        children, refused = opened(state, branch, judgement.value.links, found.fresh, tools.step)
        trouble = judgement.trouble
    on = following(state, branch, sight, "listing")
    if on and past(state, sight):
        on = on.model_copy(update={"status": "dropped", "ended": "The listing is newest first, and its last entry is too old already."})
    live = [child for child in [*children, *([on] if on else [])] if child.status == "open"]
    ended = "" if live else unfollowed(found)
    held = cut_off(state, found, children)
    branch = branch.model_copy(update={"ended": ended, "held": held, "trouble": branch.trouble or trouble})
    change: Change = {
        "tree": [branch, *children, *dropped(state, branch, found), *([on] if on else [])], "refusals": refused,
        "pages": [_linked(state, branch, [child.url for child in live])],
        "events": [collect_log.stopped(tools, branch, ended)] if ended else [],
    }  # fmt: skip
    return change, "decide"


def _linked(state: Collect, branch: Branch, urls: list[str]) -> PageRef:
    return state.pages[branch.url].model_copy(update={"links": urls})


def gather(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Take the content of a page; a thread's next page is read right after it."""
    branch = state.tree[state.here]
    sight = look(state, tools, branch)
    thread = state.items.get(branch.item_id) if branch.continues == "thread" else None
    item: Item = collect_content.carried_on(thread, branch, sight) if thread else collect_content.take(state, tools, branch, sight)
    branch = branch.model_copy(update={"item_id": item.id})
    smart = state.settings.collect.use_smart_navigation
    on = following(state, branch, sight, "thread") if item.posts and smart else None
    return {
        "items": [item], "tree": [branch, *([on] if on else [])], "events": [collect_log.extracting(tools, branch)],
    }, "decide"  # fmt: skip


def relevance(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Judge what was gathered. With too little kept and pages left, the walk goes on."""
    return sift(state, tools), "decide"


def report(state: Collect, tools: Tools) -> tuple[Change, str]:
    """Write the digest for a person to review. What was gathered and not judged yet is judged first."""
    change = jsonable(sift(state, tools)) if state.unjudged else {}
    known = merge(fork(state), change) if change else state
    judgement = tools.judge(
        DIGEST, prompt=state.question, notes=remarks(state), intent=known.wanted, items=told(known), confidence=known.level,
        failures=[page for page in known.pages.values() if page.outcome is not Outcome.OK], why_stopped=known.why_stopped, former=known.answer,
    )  # fmt: skip
    return {**change, "answers": [digest(known, judgement, tools.step)], "pending": None}, "review"


COLLECT = Flow(
    name="collect",
    first="intent",
    state=Collect,
    steps={
        "intent": intent, "decide": decide, "crawl": crawl, "judge": judge, "judge_plainly": judged_plainly, "links": links, "gather": gather,
        "relevance": relevance, "report": report,
    },
    rests={"approve": Status.WAITING, "review": Status.REVIEW, "done": Status.DONE},
    on_budget="report",
    again="intent",
    summary=summary,
    asks=moves.clash,
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
)  # fmt: skip
