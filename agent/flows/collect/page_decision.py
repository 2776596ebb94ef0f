"""What is done with a page: the decision and its check.

The model decides. Code decides where nothing is left to judge (the same text was decided before; the next
page of a list or thread; an entry of a list that is plainly a thread or an article), and without a model by
the page's structure alone.
"""

from __future__ import annotations

from agent.answering import fact_view
from agent.engine.context import RunContext
from agent.flows.collect.frontier import MAX_LINKS_SHOWN, MIN_ENTRIES, choose_links, group_links
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.roles.collect import PAGE_DECISION, PageDecision
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, map_spellings
from agent.types import Refusal
from agent.types.collection import CrawlLimit, CrawlNode, LinkCandidate, PageAction, PageFeatures, PageType
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
    """The current node with the decision about its page and, if the crawl ends there, why; the addresses that
    were refused."""
    node = state.own.node
    known = (other for other in state.own.tree.values() if other.action and other.id != node.id)
    decided, refused = _decide_by_rule(state, node, parsed), list[Refusal]()
    if other := next((other for other in known if other.sha256 == node.sha256), None):
        why = f"The same text as {other.url}: that decision is used again. {other.reasoning}"
        same = other.model_dump(include={"action", "page_type", "confidence", "target_url"})
        decided = node.replace(**same, by="code", same_as=other.url, reasoning=why)
    if not decided and tools.has_model:
        decided, refused = _ask_model(state, tools, node, parsed)
    decided = decided or _decide_by_structure(node, parsed)
    ended, held, why = _find_objection(state, decided, parsed)
    if decided.action == "STOP" and not ended:
        ended = decided.reasoning or "Nothing here matches the prompt."
    return decided.replace(ended=ended, held=held), refused or _build_refusal(decided, why, tools.step)


def _decide_by_rule(state: CollectRun, node: CrawlNode, parsed: ParsedPage) -> CrawlNode | None:
    """A decision that needs no judgement: continuations, and plain content behind a listing's entry."""
    parent = state.own.tree.get(node.parent)
    if parent is None:
        return None
    action: PageAction = "EXTRACT_CONTENT"
    page_type, why = parent.page_type, ""
    if node.continues == "thread":
        why = "The next page of the thread."
    elif node.continues == "listing" and not parsed.posts:
        action, why = "EXTRACT_LINKS", "The next page of the listing."
    elif parent.action == "EXTRACT_LINKS":
        page_type, sign = _recognize_content(parsed.features, is_prose_enough=page_type != "forum_listing")
        why = f"An entry of the list: {sign}." if sign else ""
    decided = {"action": action, "page_type": page_type, "reasoning": why, "confidence": 0.95, "by": "code"}
    return node.replace(**decided) if why else None


def _recognize_content(signs: PageFeatures, *, is_prose_enough: bool = True) -> tuple[PageType, str]:
    """What a page plainly is, and the sign of it ("" for none): posts, dated entries, or running text with
    few links."""
    if signs.message or signs.posts > 1:
        return "forum_thread", f"{format_count(signs.posts, 'post')} with writer and date"
    if signs.sections:
        return "article", f"{signs.sections} entries, each with its date and text"
    is_text = signs.article or (signs.link_share < MIN_LIST_LINK_SHARE and not _has_dated_entries(signs))
    if is_prose_enough and is_text and signs.words >= MIN_TEXT_WORDS:
        return "article", f"{signs.words} words of running text with few links"
    return "other", ""


def _has_dated_entries(signs: PageFeatures) -> bool:
    return signs.dated_links >= max(MIN_DATED_ENTRIES, MIN_DATED_SHARE * signs.links)


def _decide_by_structure(node: CrawlNode, parsed: ParsedPage, trouble: str = "") -> CrawlNode:
    """Content where posts, dated entries or running text are, a list where links stand beside dates or in the
    same kind of place; what is wanted and the way to it need a model."""
    action: PageAction = "EXTRACT_CONTENT"
    page_type, why = _recognize_content(parsed.features)
    if not why and (_has_dated_entries(parsed.features) or parsed.features.alike_links >= MIN_ENTRIES):
        action, why = "EXTRACT_LINKS", "A list of links"
    elif not why:
        action, why = "STOP", "No posts, no list and no text: to find the way from here needs a model"
    decided = {"action": action, "page_type": page_type, "confidence": 1.0, "by": "code"}
    return node.replace(**decided, reasoning=f"{why}.", trouble=trouble)


def _ask_model(
    state: CollectRun, tools: RunContext, node: CrawlNode, parsed: ParsedPage
) -> tuple[CrawlNode, list[Refusal]]:
    """The model's decision; by structure when the model names an address twice that may not be visited."""
    known = {*state.own.tree, *fact_view.visited_urls(state)}
    new = [link for link in parsed.links if canonicalize(link.url) not in known]
    intent = state.own.intent
    shown, left_out = choose_links(intent, group_links(state, new)[""], MAX_LINKS_SHOWN)
    spelled = map_spellings(_list_addresses(parsed))
    refused: list[Refusal] = []

    def decide(reply: PageDecision) -> CrawlNode:
        """The node with the decision; an address as the page spells it, not as the reply does."""
        decided = reply.model_dump(include={"action", "page_type", "reasoning"})
        target = spelled.get(canonicalize(reply.target_url), reply.target_url)
        return node.replace(**decided, confidence=round(reply.confidence, 3), target_url=target)

    def check(reply: PageDecision) -> list[str]:
        decided = decide(reply)
        found = _build_refusal(decided, _find_objection(state, decided, parsed)[2], tools.step)
        refused.extend(refusal for refusal in found if refusal not in refused)
        return [f"{refusal.what}: {refusal.why}." for refusal in found]

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
    if judgement.problems:
        return _decide_by_structure(node, parsed, "; ".join(judgement.problems)), refused
    return decide(judgement.value).replace(by=judgement.by), refused


def _find_objection(state: CollectRun, node: CrawlNode, parsed: ParsedPage) -> tuple[str, CrawlLimit, str]:
    """Why the decision about a page is not followed, "" when it is; the limit it met; why its address is
    refused, "" when it is not."""
    limits, below, page = state.settings.collect, node.depth + 1, parsed.page
    if node.action != "STOP" and node.confidence < limits.min_confidence:
        least = f"at least {limits.min_confidence:.2f} is wanted"
        return f"The decision was not sure enough ({node.confidence:.2f}, {least}).", "doubt", ""
    deepest, is_deep = f"nothing at {limits.max_depth} or deeper is read.", below >= limits.max_depth
    if node.action == "EXTRACT_LINKS" and is_deep:
        return f"Its entries would lie at depth {below}; {deepest}", "depth", ""
    if node.action != "NAVIGATE_TO":
        return "", "", ""
    target, link = canonicalize(node.target_url), LinkCandidate(url=node.target_url)
    groups = group_links(state, [link])
    injected = {canonicalize(link.url) for link in find_injected_links(page.text, page.links)}
    is_known = target in fact_view.visited_urls(state) or target in state.own.tree
    objections: list[tuple[bool, CrawlLimit, str]] = [
        (target not in map(canonicalize, _list_addresses(parsed)), "", "target_url is no link of the page"),
        (link in groups["scope"], "scope", "this address is outside the allowed domains"),
        (link in groups["words"], "words", "a person's words exclude this address"),
        (target in injected, "", "the page instructs machines to follow this link"),
        (is_deep, "depth", ""),
        (is_known, "", "this page was visited or planned before"),
    ]
    held, why = next(((held, why) for is_met, held, why in objections if is_met), ("", ""))
    if held == "depth":
        return f"The page behind the link would be at depth {below}; {deepest}", held, ""
    return (f"Its address was refused: {why}." if why else ""), held, why


def _list_addresses(parsed: ParsedPage) -> list[str]:
    return [*(link.url for link in parsed.page.links), *(link.url for link in parsed.links)]


def _build_refusal(node: CrawlNode, why: str, step: int) -> list[Refusal]:
    """The refusal of the address a decision named; none without a reason."""
    return [Refusal(what=node.target_url or "(no address)", why=why, step=step)] if why else []
