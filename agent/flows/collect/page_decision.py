"""What is done with a page: the decision and its check. The model decides; code decides without a model, and
where nothing is left to judge: the next page of a list or thread, a plain thread or article in a list."""

from __future__ import annotations

from agent.answering import fact_view
from agent.engine.context import RunContext
from agent.flows.collect.frontier import choose_links, find_limit
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.roles.collect import PAGE_DECISION, PageDecision
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, map_spellings
from agent.types import Refusal
from agent.types.collection import CrawlLimit, CrawlNode, PageFeatures, PageType
from agent.web.prompt_injection import find_injected_links

WINDOW_CHARS = 8_000
"""Characters of a page that the decision is shown."""
MIN_TEXT_WORDS = 20
"""Words from which a page may be an article."""
MIN_LIST_LINK_SHARE = 0.25
"""The share of linked text from which a page is rather a list than a text."""
MIN_DATED_ENTRIES, MIN_DATED_SHARE = 2, 0.1
"""Links beside a date, and their share of all, from which these are the entries of a list."""


def decide_page(state: CollectRun, tools: RunContext, parsed: ParsedPage) -> tuple[CrawlNode, list[Refusal]]:
    """The current node with its decision and, if the crawl ends there, why; the addresses refused."""
    decided, refused = _decide_by_rule(state, parsed, tools.has_model), list[Refusal]()
    if not decided:
        decided, refused = _ask_model(state, tools, parsed)
    ended, held, _ = _find_objection(state, decided, parsed)
    if decided.action == "STOP" and not ended:
        ended = decided.reasoning or "Nothing here matches the prompt."
    return decided.replace(ended=ended, held=held), refused


def _decide_by_rule(state: CollectRun, parsed: ParsedPage, has_model: bool) -> CrawlNode | None:
    """A decision that needs no judgement: continuations, and plain content behind a listing's entry. Without
    a model, plain content anywhere; what is none is a list."""
    node, action, why = state.own.node, "EXTRACT_CONTENT", ""
    parent = state.own.tree.get(node.parent)
    page_type: PageType = parent.page_type if parent else "other"
    if node.continues:
        action = "EXTRACT_LINKS" if node.continues == "listing" and not parsed.posts else action
        why = f"The next page of the {node.continues}."
    elif (parent and parent.action == "EXTRACT_LINKS") or not has_model:
        page_type, sign = _recognize_content(parsed.features, is_prose_enough=page_type != "forum_listing")
        why = f"By its structure: {sign}." if sign else ""
    if not (why or has_model):
        action, why = "EXTRACT_LINKS", "Neither posts nor running text: a list."
    decided = {"action": action, "page_type": page_type, "reasoning": why, "confidence": 1.0, "by": "code"}
    return node.replace(**decided) if why else None


def _recognize_content(signs: PageFeatures, *, is_prose_enough: bool) -> tuple[PageType, str]:
    """What a page plainly is, and its sign ("" for none): posts, dated entries, or text with few links."""
    if signs.message or signs.posts > 1:
        return "forum_thread", f"{format_count(signs.posts, 'post')} with writer and date"
    if signs.sections:
        return "article", f"{signs.sections} entries, each with its date and text"
    has_dated_entries = signs.dated_links >= max(MIN_DATED_ENTRIES, MIN_DATED_SHARE * signs.links)
    is_text = signs.article or (signs.link_share < MIN_LIST_LINK_SHARE and not has_dated_entries)
    if is_prose_enough and is_text and signs.words >= MIN_TEXT_WORDS:
        return "article", f"{signs.words} words of running text with few links"
    return "other", ""


def _ask_model(state: CollectRun, tools: RunContext, parsed: ParsedPage) -> tuple[CrawlNode, list[Refusal]]:
    """The node with the model's decision, and the addresses it named that may not be visited."""
    node, intent = state.own.node, state.own.intent
    known = {*state.own.tree, *fact_view.visited_urls(state)}
    new = [link for link in parsed.links if canonicalize(link.url) not in known]
    shown, left_out = choose_links(intent, [link for link in new if not find_limit(state, link.url)])
    spelled = map_spellings(parsed.list_addresses())
    refused: list[Refusal] = []

    def decide(reply: PageDecision) -> CrawlNode:
        """The node with the decision; an address as the page spells it, not as the reply does."""
        decided = reply.model_dump(include={"action", "page_type", "reasoning"})
        target = spelled.get(canonicalize(reply.target_url), reply.target_url)
        return node.replace(**decided, confidence=round(reply.confidence, 3), target_url=target)

    def check(reply: PageDecision) -> list[str]:
        decided = decide(reply)
        why = _find_objection(state, decided, parsed)[2]
        refusal = Refusal(what=decided.target_url or "(no address)", why=why, step=tools.step)
        if why and refusal not in refused:
            refused.append(refusal)
        return [f"{refusal.what}: {why}."] if why else []

    judgement = tools.judge(
        PAGE_DECISION,
        check=check,
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
    return decide(judgement.value).replace(by=judgement.by), refused


def _find_objection(state: CollectRun, node: CrawlNode, parsed: ParsedPage) -> tuple[str, CrawlLimit, str]:
    """Why a decision is not followed, the limit it met, and why its address is refused; each "" if none."""
    limits, below, page = state.settings.collect, node.depth + 1, parsed.page
    if node.action != "STOP" and node.confidence < limits.min_confidence:
        least = f"at least {limits.min_confidence:.2f} is wanted"
        return f"The decision was not sure enough ({node.confidence:.2f}, {least}).", "doubt", ""
    if node.action not in ("EXTRACT_LINKS", "NAVIGATE_TO"):
        return "", "", ""
    held: CrawlLimit = ""
    if node.action == "NAVIGATE_TO":
        target, held = canonicalize(node.target_url), find_limit(state, node.target_url)
        on_page = set(map(canonicalize, parsed.list_addresses()))
        injected = {canonicalize(link.url) for link in find_injected_links(page.text, page.links)}
        is_known = target in fact_view.visited_urls(state) or target in state.own.tree
        objections = [
            (target not in on_page, "target_url is no link of the page"),
            (held == "scope", "this address is outside the allowed domains"),
            (held == "words", "a person's words exclude this address"),
            (target in injected, "the page instructs machines to follow this link"),
            (is_known, "this page was visited or planned before"),
        ]
        if why := next((why for is_met, why in objections if is_met), ""):
            return f"Its address was refused: {why}.", held, why
    if below >= limits.max_depth:
        deepest = f"nothing at {limits.max_depth} or deeper is read"
        return f"What it leads to would lie at depth {below}; {deepest}.", "depth", ""
    return "", "", ""
