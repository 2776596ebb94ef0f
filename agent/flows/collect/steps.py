"""The steps of `collect`: each returns a change and the name of the next step."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from itertools import pairwise

from agent.answering import fact_view
from agent.answering.pages import START_PAGE_REASON, build_action, store_fetched
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.errors import BudgetSpent
from agent.flows.collect import frontier, items
from agent.flows.collect.digest import write_digest
from agent.flows.collect.frontier import EXCLUDED_BY_PERSON, LinkGroups, group_links
from agent.flows.collect.page_decision import decide_page
from agent.flows.collect.parsed_page import ParsedPage, parse_page
from agent.flows.collect.state import CollectRun, log_event
from agent.roles.collect import INTENT, LINK_RANKING, IntentReply, LinkRanking
from agent.text.urls import canonicalize, complete_typed_url, find_urls, host
from agent.types import Outcome, PlanPart, Proposal, Refusal
from agent.types.collection import CollectIntent, CrawlNode, LinkCandidate

MAX_DROPPED_SHOWN = 20
"""Entries of each kind that are kept in the tree although they are not followed."""
UNKNOWN_URL = "the ranking named an address that is not on this page"


def intent(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Read the request, and add the start pages to the tree. After a send-back all items are judged again.
    Without a model everything that the start pages lead to is wanted."""
    limit, today, own = state.settings.collect.max_articles, tools.today(), state.own
    wanted = CollectIntent(max_articles=limit, today=today)
    if tools.has_model:
        notes = frontier.list_instructions(state, public=True)
        judgement = tools.judge(INTENT, prompt=state.question, notes=notes, today=today, max_articles=limit)
        wanted = read_intent(judgement.value, limit, today)
    moved = []
    for node in own.tree.values():
        if node.status == "dropped" and node.detected_date and wanted.covers(node.detected_date):
            moved.append(node.replace(status="open", ended=""))
        if node.status == "open" and frontier.is_excluded(wanted, node.url):
            moved.append(node.replace(status="dropped", ended=EXCLUDED_BY_PERSON, held="words"))
    texts, new = [state.question, *frontier.list_instructions(state, public=True)], dict[str, str]()
    for url in [*state.settings.start_urls, *(url for text in texts for url in find_urls(text))]:
        if (name := canonicalize(url)) and name not in own.tree:
            new.setdefault(name, url)
    first = sum(node.depth == 0 and not node.continues for node in own.tree.values())
    start_pages = [
        CrawlNode(id=name, url=url, path=[n], anchor="given by you")
        for n, (name, url) in enumerate(new.items(), start=first)
        if not frontier.is_excluded(wanted, url)
    ]
    change: Change = {
        "heard": len(state.notes),
        "intent": wanted,
        "plan_parts": [PlanPart(id="1", question=state.question)],
        "why_stopped": "",
        "stop_reason": "",
        "tree": [*start_pages, *moved],
        "items": [item.replace(status="new", reason="") for item in own.items.values()],
    }
    if not start_pages and not own.tree:
        return {**change, "why_stopped": "no start page was named", "stop_reason": "blocked"}, "report"
    return change, "decide"


def read_intent(reply: IntentReply, limit: int, today: str) -> CollectIntent:
    """The intent as the model read it. A date that no calendar has is none, nor is a last day to come."""
    since, until = _read_day(reply.since), _read_day(reply.until)
    sites = (complete_typed_url(site) for site in reply.leave_out_sites)
    named = ((canonicalize(site), host(site)) for site in sites)
    return CollectIntent(
        topic=" ".join(reply.topic.split()),
        target_section=" ".join(reply.target_section.lower().split()),
        since=since if since <= today[:10] else "",
        until=until if until < today[:10] else "",
        max_articles=max(1, min(reply.max_articles or limit, limit)),
        author=" ".join(reply.author.split()),
        newest=reply.newest,
        leave_out=[" ".join(part.split()) for part in reply.leave_out if part.strip()],
        leave_out_sites=[name if url.endswith(f"://{name}") else url for url, name in named if url],
        today=today,
    )


def _read_day(said: str | None) -> str:
    """The ISO day; "" for none and for one that no calendar has."""
    with suppress(ValueError):
        return date.fromisoformat((said or "")[:10]).isoformat()
    return ""


def decide(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the next page: step by step the start pages first. When nothing is left, or enough was gathered
    and no thread is incomplete, go on to relevance and digest."""
    own, limits = state.own, state.settings.collect
    if len(state.notes) > own.heard:
        return {"pending": None}, "intent"
    waiting, used = own.frontier(state), len(state.actions_this_round)
    if state.settings.stop_point == "step":
        waiting.sort(key=lambda node: (node.depth > 0 or bool(node.continues), node.path))
    threads = [node for node in waiting if node.continues == "thread"]
    node = next(iter(threads if own.is_full else [*threads, *waiting]), None)
    if node is None or used >= limits.max_pages:
        why, reason = frontier.explain_end(state, at_page_cap=node is not None)
        if node and state.settings.at_cap == "ask":
            raise BudgetSpent(why, cap="pages", used=used, limit=limits.max_pages)
        next_step = "relevance" if own.unjudged_items else "report"
        return {"why_stopped": why, "stop_reason": reason, "pending": None}, next_step
    score = f", relevance {node.relevance_score:.2f}" if node.relevance_score is not None else ""
    dated = f", dated {node.detected_date}" if node.detected_date else ""
    visit = f"{'Followed from its list' if score or dated else 'Chosen link'}: “{node.anchor}”{score}{dated}."
    if not node.parent or node.continues:
        visit = f"The next page of the same {node.continues}." if node.parent else START_PAGE_REASON
    proposal = Proposal(next_action="crawl_url", query_or_url=node.url, reasoning=visit, by="code")
    change: Change = {"pending": proposal, "here": node.id}
    new = [node for node in own.frontier(state) if node.id not in own.shown]
    if state.settings.stop_point == "step" and any(n.parent and n.continues != "thread" for n in new):
        return {**change, "shown": [*own.shown, *(n.id for n in new)]}, "approve"
    return change, "crawl"


def crawl(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Fetch a page and store it. A failure or a redirect to a visited page ends its branch, never the run."""
    own, pending = state.own, state.pending
    url = pending.query_or_url if pending else own.node.url
    name = canonicalize(url)
    node = own.tree.get(name) or CrawlNode(id=name, url=url, path=[len(own.tree)], anchor="given by you")
    page = tools.fetch(url, leading=True)
    parent = own.tree.get(node.parent)
    ref = store_fetched(tools, url, page, parent.url if parent else "person")
    ended, final = "" if page.outcome is Outcome.OK else page.detail, canonicalize(page.final_url)
    if page.outcome is Outcome.OK and final != name and final in fact_view.visited_urls(state):
        ended = f"It leads to a page that was visited before: {page.final_url}."
    node = node.replace(
        status="visited",
        outcome=page.outcome,
        detail=page.detail,
        page_id=ref.page_id,
        sha256=page.sha256 if ref.page_id else "",
        title=page.title,
        step=tools.step,
        ended=ended,
    )
    proposal = pending or Proposal(next_action="crawl_url", query_or_url=url, by="code")
    action = build_action(proposal, tools.step, page.outcome, page.detail, page_id=ref.page_id)
    tree = [node]
    if (planned := own.tree.get(own.here)) and planned.id != name and planned.status == "open":
        tree.append(planned.replace(status="dropped", ended="You chose another page instead."))
    change: Change = {"actions": [action], "pages": [ref], "pending": None, "here": name, "tree": tree}
    if ended:
        return {**change, "events": [log_event(tools, "nav:stopped", node, ended)]}, "decide"
    return change, "judge"


def judge(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Decide what is done with the current page, and check the decision."""
    if not state.settings.collect.use_smart_navigation:
        return {}, "judge_plainly"
    parsed = parse_page(state, tools, state.own.node)
    node, refusals = decide_page(state, tools, parsed)
    events = [log_event(tools, "nav:decision", node, node.reasoning)]
    change: Change = {"tree": [node], "events": events, "refusals": refusals}
    if node.ended:
        events.append(log_event(tools, "nav:stopped", node, node.ended, refused=bool(refusals)))
    elif node.action == "NAVIGATE_TO":
        target = canonicalize(node.target_url)
        link = next((link for link in parsed.links if canonicalize(link.url) == target), None)
        opened = frontier.open_child(state, node, link or LinkCandidate(url=node.target_url), 0)
        change |= {"tree": [node, opened], "pages": [state.pages[node.url].replace(links=[opened.url])]}
    elif node.action in ("EXTRACT_CONTENT", "EXTRACT_LINKS"):
        return change, "gather" if node.action == "EXTRACT_CONTENT" else "links"
    return change, "decide"


def judge_plainly(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Without smart navigation: open all links of a start page, and take each page as an article."""
    node, deep = state.own.node, state.settings.collect.max_depth > 1
    why = "" if node.depth else ", and all links of the start pages are followed"
    node = node.replace(
        action="EXTRACT_CONTENT",
        page_type="article",
        reasoning=f"Without smart navigation each page is taken as an article{why}.",
        confidence=1.0,
        by="code",
    )
    opened = []
    if not node.depth:
        links = group_links(state, parse_page(state, tools, node).links)[""]
        fresh = [link for link in links if canonicalize(link.url) not in state.own.tree]
        node = node.replace(held="depth" if fresh and not deep else "")
        opened = [frontier.open_child(state, node, link, n) for n, link in enumerate(fresh if deep else [])]
    events = [log_event(tools, "nav:decision", node, node.reasoning)]
    return {"tree": [node, *opened], "events": events}, "gather"


def links(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Rank a listing's links and open the best; its next page has its depth and comes after its entries."""
    own, node = state.own, state.own.node
    parsed = parse_page(state, tools, node)
    parent = own.tree.get(node.parent)
    previous = []
    if parent and parent.page_id and node.continues == "listing":
        previous = [canonicalize(link.url) for link in parse_page(state, tools, parent).links if link.content]
    seen = {*own.tree, *previous, *fact_view.visited_urls(state), canonicalize(parsed.next_url)}
    new = group_links(state, [link for link in parsed.links if canonicalize(link.url) not in seen])
    untimely = [link for link in new[""] if link.content and not own.intent.covers(link.date)]
    found = {**new, "": [link for link in new[""] if link not in untimely], "time": untimely}
    children, refused, trouble = _rank_links(state, tools, parsed, found) if found[""] else ([], [], "")
    entries = {limit: sum(link.content for link in some) for limit, some in found.items()}
    ended, held = "None of its links is relevant.", ""
    if found["time"]:
        ended = "None of its entries is in the time range."
    elif found["words"] and not entries[""]:
        ended = "Your words exclude all its entries."
    elif entries["scope"] and not entries[""]:
        ended = "All its entries are outside the allowed domains."
    if entries[""] > len(children) >= state.settings.collect.max_links:
        held = "links"
    elif entries["words"] or (not children and entries["scope"]):
        held = "words" if entries["words"] else "scope"
    late, dropped = untimely[:MAX_DROPPED_SHOWN], []
    excluded = [link for link in new["words"] if link.content][:MAX_DROPPED_SHOWN]
    for n, link in enumerate([*late, *excluded]):
        child = frontier.open_child(state, node, link, frontier.RANK_LAST - 1, n, day=link.date)
        by_words = {"status": "dropped", "ended": EXCLUDED_BY_PERSON, "held": "words"}
        dropped.append(child if n < len(late) else child.replace(**by_words))
    if following := frontier.find_continuation(state, node, parsed, "listing"):
        days = [link.date for link in parsed.links if link.content and link.date]
        is_sorted = bool(days) and all(a >= b for a, b in pairwise(days))
        if is_sorted and own.intent.is_too_old(days[-1]):
            why = "The listing is newest first, and its last entry is too old already."
            following = following.replace(status="dropped", ended=why)
        children = [*children, following]
    live = [child.url for child in children if child.status == "open"]
    ended = "" if live else ended
    node = node.replace(ended=ended, held=held, trouble=node.trouble or trouble)
    change: Change = {
        "tree": [node, *children, *dropped],
        "refusals": refused,
        "pages": [state.pages[node.url].replace(links=live)],
        "events": [log_event(tools, "nav:stopped", node, ended)] if ended else [],
    }
    return change, "decide"


def _rank_links(
    state: CollectRun, tools: RunContext, parsed: ParsedPage, found: LinkGroups
) -> tuple[list[CrawlNode], list[Refusal], str]:
    """The best links as nodes, the refused addresses, and why the list's structure chose. It does so too
    when the model was told of its invented addresses and names nothing else."""
    wanted = state.own.intent
    if not tools.has_model:
        return frontier.open_ranked_links(state, frontier.list_entries(found[""]), found[""]), [], ""
    shown, left_out = frontier.choose_links(wanted, found[""], frontier.MAX_LINKS_SHOWN)
    known = {canonicalize(link.url) for link in shown}

    def find_unknown(reply: LinkRanking) -> list[str]:
        """The addresses that a reply names and that were not offered, each once."""
        return list(dict.fromkeys(one.url for one in reply.links if canonicalize(one.url) not in known))

    judgement = tools.judge(
        LINK_RANKING,
        check=lambda reply: [f"{url}: {UNKNOWN_URL}" for url in find_unknown(reply)],
        intent=wanted,
        url=state.own.node.url,
        title=parsed.page.title,
        today=wanted.today,
        limit=state.settings.collect.max_links,
        dated=any(link.date and link.content for link in [*found[""], *found["time"]]),
        links=shown,
        left_out=left_out,
    )
    replies = [judgement.earlier, judgement.value] if judgement.earlier else [judgement.value]
    named = dict.fromkeys(url for reply in replies for url in find_unknown(reply))
    refused = [Refusal(what=url, why=UNKNOWN_URL, step=tools.step) for url in named]
    children = frontier.open_ranked_links(state, judgement.value.links, shown)
    trouble = judgement.failure or "; ".join(judgement.problems)
    if trouble and not children:
        return frontier.open_ranked_links(state, frontier.list_entries(shown), shown), refused, trouble
    return children, refused, judgement.failure


def gather(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Take the content of a page; the next page of a thread is read right after it."""
    own, node = state.own, state.own.node
    parsed = parse_page(state, tools, node)
    thread = own.items.get(node.item_id) if node.continues == "thread" else None
    if thread:
        known = {(post.user, post.date, post.text) for post in thread.posts}
        more = [post for post in parsed.posts if (post.user, post.date, post.text) not in known]
        numbered = [post.replace(n=n) for n, post in enumerate(more, start=len(thread.posts) + 1)]
        thread = thread.replace(
            posts=[*thread.posts, *numbered],
            page_ids=[*thread.page_ids, node.page_id],
            last_date=max([thread.last_date, *(post.date for post in more)]),
        )
    found = [thread] if thread else items.extract_items(state, tools, node, parsed)
    found = [item.replace(trouble=item.trouble or parsed.trouble) for item in found]
    node = node.replace(item_id=found[0].id)
    has_more = found[0].posts and state.settings.collect.use_smart_navigation
    following = frontier.find_continuation(state, node, parsed, "thread") if has_more else None
    told = f"{node.page_type.replace('_', ' ')}: {node.title}"
    events = [log_event(tools, "nav:extracting_content", node, told)]
    return {"items": found, "tree": [node, *filter(None, [following])], "events": events}, "decide"


def relevance(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Judge what was gathered. With too little kept and pages left, the crawl continues."""
    return items.filter_items(state, tools), "decide"


def report(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Write the digest for a person to review, after judging the items that were not judged yet."""
    change = items.filter_items(state, tools) if state.own.unjudged_items else {}
    now = state_after(state, change)
    return {**change, **write_digest(now, tools), "pending": None}, "review"
