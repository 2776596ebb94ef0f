"""The steps of `collect`: each returns a change and the name of the next step."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

from agent.answering import fact_view
from agent.answering.pages import START_PAGE_REASON, build_action, store_fetched
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.errors import BudgetSpent
from agent.flows.collect import frontier, items
from agent.flows.collect.digest import write_digest
from agent.flows.collect.page_decision import decide_page
from agent.flows.collect.parsed_page import ParsedPage, parse_page
from agent.flows.collect.state import CollectRun, log_event
from agent.roles.collect import INTENT, LINK_RANKING, IntentReply, LinkRanking
from agent.text.urls import canonicalize, complete_typed_url, find_urls, host
from agent.types import Outcome, PlanPart, Proposal, Refusal
from agent.types.collection import CollectIntent, CrawlNode, LinkCandidate

MAX_DROPPED_SHOWN = 20
"""Entries of a list that are kept in the tree although they are not followed."""
UNKNOWN_URL = "the ranking named an address that is not on this page"


def intent(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Read the request, and add the start pages to the tree. After a send-back all items are judged again.
    Without a model everything that the start pages lead to is wanted."""
    limit, today, own = state.settings.collect.max_articles, tools.today(), state.own
    public = fact_view.list_instructions(state, public=True)
    wanted = CollectIntent(max_articles=limit, today=today)
    if tools.has_model:
        judgement = tools.judge(INTENT, prompt=state.question, notes=public, today=today, max_articles=limit)
        wanted = read_intent(judgement.value, limit, today)
    now = state_after(state, {"intent": wanted})
    tree = [
        frontier.limit_node(now, node)
        for node in own.tree.values()
        if node.status == "open" or (node.status == "dropped" and node.held)
    ]
    new, n = set[str](), sum(node.depth == 0 and not node.continues for node in own.tree.values())
    for url in [*state.settings.start_urls, *find_urls("\n".join([state.question, *public]))]:
        name = canonicalize(url)
        if name and name not in {*own.tree, *new} and frontier.find_limit(now, url) != "words":
            tree.append(CrawlNode(id=name, url=url, path=[n + len(new)], anchor="given by you"))
            new.add(name)
    change: Change = {
        "heard": len(state.notes),
        "intent": wanted,
        "plan_parts": [PlanPart(id="1", question=state.question)],
        "why_stopped": "",
        "stop_reason": "",
        "tree": tree,
        "items": [item.replace(status="new", reason="") for item in own.items.values()],
    }
    if not new and not own.tree:
        return {**change, "why_stopped": "no start page was named", "stop_reason": "blocked"}, "report"
    return change, "decide"


def read_intent(reply: IntentReply, limit: int, today: str) -> CollectIntent:
    """The intent as the model read it. A date that no calendar has is none, nor is a last day to come."""

    def read_day(said: str | None) -> str:
        with suppress(ValueError):
            return date.fromisoformat((said or "")[:10]).isoformat()
        return ""

    since, until = read_day(reply.since), read_day(reply.until)
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


def decide(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the next page: step by step the start pages first. When nothing is left, or enough was gathered
    and no thread is incomplete, go on to relevance and digest."""
    own, limits = state.own, state.settings.collect
    if len(state.notes) > own.heard:
        return {"pending": None}, "intent"
    waiting, used = own.frontier(state), len(state.actions_this_round)
    is_stepwise = state.settings.stop_point == "step"
    if is_stepwise:
        waiting.sort(key=lambda node: (node.depth > 0 or bool(node.continues), node.path))
    threads = [node for node in waiting if node.continues == "thread"]
    node = next(iter(threads if own.is_full else [*threads, *waiting]), None)
    if node is None or used >= limits.max_pages:
        why, reason = frontier.explain_end(state, at_page_cap=node is not None)
        if node and state.settings.at_cap == "ask":
            raise BudgetSpent(why, cap="pages", used=used, limit=limits.max_pages)
        next_step = "relevance" if own.unjudged_items else "report"
        return {"why_stopped": why, "stop_reason": reason, "pending": None}, next_step
    if node.continues:
        visit = f"The next page of the same {node.continues}."
    elif node.parent:
        score = "" if node.relevance_score is None else f", relevance {node.relevance_score:.2f}"
        visit = (
            f"Chosen link: “{node.anchor}”{score}{node.detected_date and f', dated {node.detected_date}'}."
        )
    else:
        visit = START_PAGE_REASON
    proposal = Proposal(next_action="crawl_url", query_or_url=node.url, reasoning=visit, by="code")
    change: Change = {"pending": proposal, "here": node.id}
    new = [node for node in waiting if node.id not in own.shown]
    if is_stepwise and any(node.parent and node.continues != "thread" for node in new):
        return {**change, "shown": [*own.shown, *(node.id for node in new)]}, "approve"
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
    """Decide what is done with the current page, and check the decision. Without smart navigation each page
    is content, and the links of a start page are followed."""
    parsed = parse_page(state, tools, state.own.node)
    if not state.settings.collect.use_smart_navigation:
        node, is_start = state.own.node, not state.own.node.depth
        links = [link for link in parsed.links if is_start and canonicalize(link.url) not in state.own.tree]
        is_deep = state.settings.collect.max_depth > 1
        node = node.replace(
            action="EXTRACT_CONTENT",
            page_type="article",
            reasoning="Without smart navigation the start pages and all that they link to are articles.",
            confidence=1.0,
            by="code",
            held="depth" if links and not is_deep else "",
        )
        tree = [frontier.open_child(state, node, link, n) for n, link in enumerate(links if is_deep else [])]
        events = [log_event(tools, "nav:decision", node, node.reasoning)]
        return {"tree": [node, *tree], "events": events}, "gather"
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
    else:
        return change, "gather" if node.action == "EXTRACT_CONTENT" else "links"
    return change, "decide"


def links(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Rank a listing's links and open the best; its next page has its depth and comes after its entries."""
    own, node = state.own, state.own.node
    parsed, parent = parse_page(state, tools, node), own.tree.get(node.parent)
    previous = []
    if parent and parent.page_id and node.continues == "listing":
        previous = [canonicalize(link.url) for link in parse_page(state, tools, parent).links if link.content]
    seen = {*own.tree, *previous, *fact_view.visited_urls(state), canonicalize(parsed.next_url)}
    new = [link for link in parsed.links if canonicalize(link.url) not in seen]
    limits = {
        link.url: frontier.find_limit(state, link.url, link.date if link.content else "") for link in new
    }
    offered = [link for link in new if not limits[link.url]]
    forbidden = [link for link in new if limits[link.url] and link.content][:MAX_DROPPED_SHOWN]
    children, refusals, trouble = _rank_links(state, tools, parsed, offered) if offered else ([], [], "")
    is_cut = sum(link.content for link in offered) > len(children) >= state.settings.collect.max_links
    children += [
        frontier.open_child(state, node, link, frontier.RANK_LAST - 1, n, day=link.date)
        for n, link in enumerate(forbidden)
    ]
    if following := frontier.find_continuation(state, node, parsed, "listing"):
        days = [link.date for link in parsed.links if link.content and link.date]
        if days and days == sorted(days, reverse=True) and own.intent.is_too_old(days[-1]):
            why = "The listing is newest first, and its last entry is too old already."
            following = following.replace(status="dropped", ended=why)
        children.append(following)
    live = [child.url for child in children if child.status == "open"]
    ended = "" if live else "None of its links is relevant, allowed and in the time range."
    node = node.replace(ended=ended, held="links" if is_cut else "", trouble=trouble)
    return {
        "tree": [node, *children],
        "refusals": refusals,
        "pages": [state.pages[node.url].replace(links=live)],
        "events": [log_event(tools, "nav:stopped", node, ended)] if ended else [],
    }, "decide"


def _rank_links(
    state: CollectRun, tools: RunContext, parsed: ParsedPage, offered: list[LinkCandidate]
) -> tuple[list[CrawlNode], list[Refusal], str]:
    """The best links as nodes, the addresses that the model invented, and why it did not rank them: then, and
    without a model, those beside dates, else those outside of menus, are followed in their order.

    The date in the listing wins over the model's, which counts only if the text of the link has its year."""
    wanted, most, node = state.own.intent, state.settings.collect.max_links, state.own.node
    shown, left_out = frontier.choose_links(wanted, offered)
    dated = {link.place for link in parsed.links if link.date and link.content}
    entries = [link for link in shown if link.content and (link.place in dated or not dated)][:most]
    plainly = [frontier.open_child(state, node, link, n, day=link.date) for n, link in enumerate(entries)]
    if not tools.has_model:
        return plainly, [], ""
    known, refusals = {canonicalize(link.url): link for link in shown}, dict[str, Refusal]()

    def check(reply: LinkRanking) -> list[str]:
        unknown = dict.fromkeys(one.url for one in reply.links if canonicalize(one.url) not in known)
        refusals.update({url: Refusal(what=url, why=UNKNOWN_URL, step=tools.step) for url in unknown})
        return [f"{url}: {UNKNOWN_URL}" for url in unknown]

    judgement = tools.judge(
        LINK_RANKING,
        check=check,
        intent=wanted,
        url=node.url,
        title=parsed.page.title,
        today=wanted.today,
        limit=most,
        dated=bool(dated),
        links=shown,
        left_out=left_out,
    )
    children = dict[str, CrawlNode]()
    for one in sorted(judgement.value.links, key=lambda one: -one.relevance_score):
        if (name := canonicalize(one.url)) in known and name not in children and len(children) < most:
            link, day = known[name], (one.detected_date or "")[:10]
            is_plausible = day[:4].isdigit() and day[:4] in f"{link.text} {link.context} {link.url}"
            day, more = (
                link.date or (day if is_plausible else ""),
                {"relevance_score": round(one.relevance_score, 3)},
            )
            children[name] = frontier.open_child(state, node, link, len(children), day=day, **more)
    trouble = judgement.failure or "; ".join(judgement.problems)
    if trouble and not children:
        return plainly, list(refusals.values()), trouble
    return list(children.values()), list(refusals.values()), judgement.failure


def gather(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Take the content of a page; the next page of a thread is read right after it."""
    own, node = state.own, state.own.node
    parsed = parse_page(state, tools, node)
    thread = own.items.get(node.item_id) if node.continues == "thread" else None
    found = [thread] if thread else items.extract_items(state, tools, node, parsed)
    if thread:
        known = {(post.user, post.date, post.text) for post in thread.posts}
        more = [post for post in parsed.posts if (post.user, post.date, post.text) not in known]
        numbered = [post.replace(n=n) for n, post in enumerate(more, start=len(thread.posts) + 1)]
        found = [
            thread.replace(
                posts=[*thread.posts, *numbered],
                page_ids=[*thread.page_ids, node.page_id],
                last_date=max([thread.last_date, *(post.date for post in more)]),
            )
        ]
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
