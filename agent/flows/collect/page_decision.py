"""What is done with a page that was read: a decision, made again where it must be and used again where it may
be, then checked.

The strong model decides. Code does where nothing is left to decide: the same text was decided on before; a
listing's next page; a page behind an entry of a listing that is plainly a thread or an article. Each decision
says who made it."""

from __future__ import annotations

import re

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.collect import event_log
from agent.flows.collect.frontier import apply_decision, find_objection, open_target
from agent.flows.collect.parsed_page import ParsedPage, list_allowed_links, parse_page
from agent.flows.collect.state import CollectRun
from agent.roles.collect.page_decision import PAGE_DECISION
from agent.roles.role import RoleResult
from agent.text.urls import canonicalize
from agent.types.collection import CrawlNode, LinkCandidate, PageAction, PageType

WINDOW_CHARS = 8_000
"""Characters of a page that the decision is shown."""
LINKS_SHOWN = 60
MIN_STATED_ARTICLE_WORDS = 50
"""Words from which a page that states it is an article needs no decision."""
STEP_BY_ACTION = {
    "EXTRACT_CONTENT": "gather",
    "EXTRACT_LINKS": "links",
    "NAVIGATE_TO": "decide",
    "STOP": "decide",
}


def judge(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """Decide about the page at hand, and check what was decided."""
    if not state.settings.collect.use_smart_navigation:
        return {}, "judge_plainly"
    branch = state.own.tree[state.own.here]
    sight = parse_page(state, tools, branch)
    branch = (
        _reuse_decision(state, branch)
        or _decide_by_rule(state, branch, sight)
        or apply_decision(branch, _ask_page_decision(state, tools, branch, sight))
    )
    objected = find_objection(state, branch, sight)
    refusal = objected.refusal if objected else None
    ended = (
        objected.why
        if objected
        else (branch.reasoning or "Nothing here is wanted.")
        if branch.action == "STOP"
        else ""
    )
    branch = branch.model_copy(update={"ended": ended, "held": objected.held if objected else ""})
    events = [
        event_log.log_decision(tools, branch),
        *([event_log.log_stop(tools, branch, ended, refused=refusal is not None)] if ended else []),
    ]
    change: Change = {
        "tree": [branch],
        "events": events,
        "refusals": [refusal.model_copy(update={"step": tools.step})] if refusal else [],
    }
    if ended:
        return change, "decide"
    if branch.action == "NAVIGATE_TO":
        onward = open_target(branch, sight)
        change["tree"] = [branch, onward]
        change["pages"] = [state.pages[branch.url].model_copy(update={"links": [onward.url]})]
    return change, STEP_BY_ACTION[branch.action or "STOP"]


def judge_plainly(state: CollectRun, tools: RunContext) -> tuple[Change, str]:
    """The plain way: every link of a start page is opened up front, and every page is taken as an article."""
    branch = state.own.tree[state.own.here]
    told = "The plain way: each page is taken as an article" + (
        ", and all links of the start pages are followed." if not branch.depth else "."
    )
    branch = branch.model_copy(
        update={
            "action": "EXTRACT_CONTENT",
            "page_type": "article",
            "reasoning": told,
            "confidence": 1.0,
            "by": "code",
        }
    )
    opened = []
    if not branch.depth:
        fresh = [
            offer
            for offer in list_allowed_links(state, parse_page(state, tools, branch))
            if canonicalize(offer.url) not in state.own.tree
        ]
        deep = state.settings.collect.max_depth > 1
        branch = branch.model_copy(update={"held": "depth" if fresh and not deep else ""})
        opened = (
            []
            if not deep
            else [
                CrawlNode(
                    id=canonicalize(offer.url),
                    url=offer.url,
                    parent=branch.id,
                    anchor=offer.text,
                    depth=1,
                    path=[*branch.path, n],
                )
                for n, offer in enumerate(fresh)
            ]
        )
    return {"tree": [branch, *opened], "events": [event_log.log_decision(tools, branch)]}, "gather"


def _reuse_decision(state: CollectRun, branch: CrawlNode) -> CrawlNode | None:
    """The decision about a page with the very same text, used again."""
    twin = next(
        (
            other
            for other in state.own.tree.values()
            if other.sha256 == branch.sha256 and other.action and other.id != branch.id
        ),
        None,
    )
    if twin is None:
        return None
    return branch.model_copy(
        update={
            "action": twin.action,
            "page_type": twin.page_type,
            "confidence": twin.confidence,
            "target_url": twin.target_url,
            "by": "code",
            "same_as": twin.url,
            "reasoning": f"The same text as {twin.url}: that decision is used again. {twin.reasoning}",
        }
    )


def _decide_by_rule(state: CollectRun, branch: CrawlNode, sight: ParsedPage) -> CrawlNode | None:
    """What needs no judgement: the next page of what was decided, or plain content behind a listing's
    entry."""
    above = state.own.tree.get(branch.parent)
    if above is None:
        return None
    if branch.continues == "thread":
        return _with_rule_decision(branch, "EXTRACT_CONTENT", above.page_type, "The next page of the thread.")
    if branch.continues == "listing" and not sight.posts:
        return _with_rule_decision(branch, "EXTRACT_LINKS", above.page_type, "The next page of the listing.")
    if above.action != "EXTRACT_LINKS":
        return None
    if len(sight.posts) > 1:
        return _with_rule_decision(
            branch,
            "EXTRACT_CONTENT",
            "forum_thread",
            f"An entry of the list, and {len(sight.posts)} posts with writer and date stand here.",
        )
    if sight.features.article and sight.features.words >= MIN_STATED_ARTICLE_WORDS:
        return _with_rule_decision(
            branch,
            "EXTRACT_CONTENT",
            "article",
            "An entry of the list, and the page states that it is an article.",
        )
    return None


def _with_rule_decision(branch: CrawlNode, action: PageAction, page_type: PageType, told: str) -> CrawlNode:
    return branch.model_copy(
        update={"action": action, "page_type": page_type, "reasoning": told, "confidence": 0.95, "by": "code"}
    )


def _ask_page_decision(
    state: CollectRun, tools: RunContext, branch: CrawlNode, sight: ParsedPage
) -> RoleResult:
    return tools.judge(
        PAGE_DECISION,
        intent=state.own.effective_intent(state),
        url=branch.url,
        depth=branch.depth,
        max_depth=state.settings.collect.max_depth,
        title=sight.page.title,
        signs=sight.features,
        links=_select_links_for_prompt(
            list_allowed_links(state, sight), state.own.effective_intent(state).target_section
        ),
        text=sight.page.text[:WINDOW_CHARS],
    )


def _select_links_for_prompt(offers: list[LinkCandidate], section: str) -> list[LinkCandidate]:
    """The links shown: those that speak of the section first, then those of the content, in the page's
    order."""
    spoken = re.compile("|".join(map(re.escape, section.split())) or r"(?!)", re.IGNORECASE)
    return sorted(
        offers, key=lambda offer: (not spoken.search(f"{offer.text} {offer.url}"), not offer.content)
    )[:LINKS_SHOWN]
