"""What is done with a page: the decision, reused or made by rule where that is enough, and its check.

The model decides. Code decides where nothing is left to judge: the same text was decided before; the next
page of a listing or thread; an entry of a listing that is plainly a thread or an article.
"""

from __future__ import annotations

from agent.answering import fact_view
from agent.engine.context import RunContext
from agent.flows.collect.constraints import EXCLUDED_BY_PERSON, limit_by_link, list_allowed_links
from agent.flows.collect.link_window import choose_links
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.roles.collect import PAGE_DECISION, PageDecision, is_prose
from agent.text.urls import canonicalize, map_spellings
from agent.types import Refusal
from agent.types.collection import CrawlLimit, CrawlNode, LinkCandidate, PageAction, PageType
from agent.web.prompt_injection import find_injected_links

WINDOW_CHARS = 8_000
"""Characters of a page that the decision is shown."""
DECISION_LINKS_SHOWN = 60
MIN_STATED_ARTICLE_WORDS = 50
"""Words from which a page whose metadata says that it is an article needs no decision."""
Objection = tuple[str, CrawlLimit, str]
"""Why a decision is not followed; the limit it met; why its address is refused, "" when it is not."""


def decide_page(state: CollectRun, tools: RunContext, parsed: ParsedPage) -> tuple[CrawlNode, list[Refusal]]:
    """The current node with the decision about its page, and the addresses that were refused."""
    node = state.own.node
    decided = _reuse_decision(state, node) or _decide_by_rule(state, node, parsed)
    return (decided, []) if decided else _ask_model(state, tools, node, parsed)


def _reuse_decision(state: CollectRun, node: CrawlNode) -> CrawlNode | None:
    """The decision about a page with the same text."""
    for other in state.own.tree.values():
        if other.sha256 == node.sha256 and other.action and other.id != node.id:
            why = f"The same text as {other.url}: that decision is used again. {other.reasoning}"
            return node.replace(
                action=other.action,
                page_type=other.page_type,
                confidence=other.confidence,
                target_url=other.target_url,
                by="code",
                same_as=other.url,
                reasoning=why,
            )
    return None


def _decide_by_rule(state: CollectRun, node: CrawlNode, parsed: ParsedPage) -> CrawlNode | None:
    """A decision that needs no judgement: continuations, and plain content behind a listing's entry."""
    parent = state.own.tree.get(node.parent)
    if parent is None:
        return None

    def decision(action: PageAction, page_type: PageType, why: str) -> CrawlNode:
        return node.replace(action=action, page_type=page_type, reasoning=why, confidence=0.95, by="code")

    if node.continues == "thread":
        return decision("EXTRACT_CONTENT", parent.page_type, "The next page of the thread.")
    if node.continues == "listing" and not parsed.posts:
        return decision("EXTRACT_LINKS", parent.page_type, "The next page of the listing.")
    if parent.action != "EXTRACT_LINKS":
        return None
    if parsed.features.message:
        return decision(
            "EXTRACT_CONTENT", "forum_thread", "An entry of the list: a message with sender and date."
        )
    if parsed.sections:
        why = f"An entry of the list, with {len(parsed.sections)} dated entries of its own."
        return decision("EXTRACT_CONTENT", "article", why)
    if len(parsed.posts) > 1:
        why = f"An entry of the list, and {len(parsed.posts)} posts with writer and date are on the page."
        return decision("EXTRACT_CONTENT", "forum_thread", why)
    if parsed.features.article and parsed.features.words >= MIN_STATED_ARTICLE_WORDS:
        why = "An entry of the list, and the page states that it is an article."
        return decision("EXTRACT_CONTENT", "article", why)
    if parent.page_type != "forum_listing" and is_prose(parsed.features, is_entry=True):
        why = f"An entry of the list, and {parsed.features.words} words of running text with few links."
        return decision("EXTRACT_CONTENT", "article", why)
    return None


def _ask_model(
    state: CollectRun, tools: RunContext, node: CrawlNode, parsed: ParsedPage
) -> tuple[CrawlNode, list[Refusal]]:
    """The model's decision; the fallback's when the model names an address twice that may not be visited."""
    known = {*state.own.tree, *fact_view.visited_urls(state)}
    new = [link for link in parsed.links if canonicalize(link.url) not in known]
    intent, links = state.own.effective_intent(state), list_allowed_links(state, new)
    shown, left_out = choose_links(intent, links, DECISION_LINKS_SHOWN)
    refused: list[Refusal] = []

    def check(reply: PageDecision) -> list[str]:
        decided = _apply_decision(node, reply, parsed)
        _, _, why = find_objection(state, decided, parsed) or ("", "", "")
        found = build_refusal(decided, why, tools.step)
        refused.extend(refusal for refusal in found if refusal not in refused)
        return [f"{refusal.what}: {refusal.why}." for refusal in found]

    judgement = tools.judge(
        PAGE_DECISION,
        check=check,
        must_pass=True,
        intent=intent,
        url=node.url,
        depth=node.depth,
        max_depth=state.settings.collect.max_depth,
        title=parsed.page.title,
        signs=parsed.features,
        links=shown,
        left_out=left_out,
        text=parsed.page.text[:WINDOW_CHARS],
    )
    decided = _apply_decision(node, judgement.value, parsed)
    return decided.replace(by=judgement.by, trouble=judgement.fallback_reason), refused


def _apply_decision(node: CrawlNode, reply: PageDecision, parsed: ParsedPage) -> CrawlNode:
    """The node with the decision; an address as the page spells it, not as the reply does."""
    known = map_spellings([*(link.url for link in parsed.page.links), *(link.url for link in parsed.links)])
    return node.replace(
        action=reply.action,
        page_type=reply.page_type,
        reasoning=reply.reasoning,
        confidence=round(reply.confidence, 3),
        target_url=known.get(canonicalize(reply.target_url), reply.target_url),
    )


def find_objection(state: CollectRun, node: CrawlNode, parsed: ParsedPage) -> Objection | None:
    """Why the decision about a page is not followed; None when it is."""
    limits = state.settings.collect
    if node.action != "STOP" and node.confidence < limits.min_confidence:
        least = f"at least {limits.min_confidence:.2f} is wanted"
        return f"The decision was not sure enough ({node.confidence:.2f}, {least}).", "doubt", ""
    below, deepest = node.depth + 1, f"nothing at {limits.max_depth} or deeper is read."
    if node.action == "EXTRACT_LINKS" and below >= limits.max_depth:
        return f"Its entries would lie at depth {below}; {deepest}", "depth", ""
    if node.action != "NAVIGATE_TO":
        return None
    if objection := _find_target_objection(state, node, parsed):
        return objection
    if below >= limits.max_depth:
        return f"The page behind the link would be at depth {below}; {deepest}", "depth", ""
    target = canonicalize(node.target_url)
    if target in fact_view.visited_urls(state) or target in state.own.tree:
        why = "The page it leads to was visited or planned before."
        return why, "", "this page was visited or planned before"
    return None


def _find_target_objection(state: CollectRun, node: CrawlNode, parsed: ParsedPage) -> Objection | None:
    """Why the address that a decision named may not be visited."""
    target, page = canonicalize(node.target_url), parsed.page
    urls = [*(link.url for link in parsed.links), *(link.url for link in page.links)]
    if target not in map(canonicalize, urls):
        why = "The decision named an address that is not on this page."
        return why, "", "target_url is no link of the page"
    limit = limit_by_link(state, [LinkCandidate(url=node.target_url)])[0][1]
    if limit == "scope":
        return (
            "The link leads outside the allowed domains.",
            limit,
            "this address is outside the allowed domains",
        )
    if limit == "words":
        return EXCLUDED_BY_PERSON, limit, "a person's words exclude this address"
    if target in {canonicalize(link.url) for link in find_injected_links(page.text, page.links)}:
        why = "The link is part of instructions to machines on the page."
        return why, "", "the page instructs machines to follow this link"
    return None


def build_refusal(node: CrawlNode, why: str, step: int) -> list[Refusal]:
    """The refusal of the address a decision named; none without a reason."""
    return [Refusal(what=node.target_url[:300] or "(no address)", why=why, step=step)] if why else []
