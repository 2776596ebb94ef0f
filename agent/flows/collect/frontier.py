"""Which pages are visited next: start pages, the next node, links of a listing, continuations; the addresses
that a person's words exclude; and why a crawl ends.

Pure functions of the state and a parsed page; no model and no web.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from agent.answering import fact_view
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.retrieval.scorer import rank_passages
from agent.roles.collect import RankedLink
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, is_blocked
from agent.types import Outcome, Passage
from agent.types.collection import CollectIntent, CrawlNode, LinkCandidate

RANK_LAST = 9_999
"""The rank of a listing's next page: after all its entries."""
RANK_FIRST = -1
"""The rank of a thread's next page: before anything else."""
MIN_ENTRIES = 3
"""Links in the same kind of place that are the entries of a list where none has a date."""
MAX_LINKS_SHOWN = 80
"""Links of one page that a prompt shows."""
EXCLUDED_BY_PERSON = "Your words exclude this address."

LinkGroups = Mapping[str, list[LinkCandidate]]
"""Links by the limit that forbids to follow them: "" for none, "scope", "words", and "time" for entries of a
listing that are out of the time range."""


def list_instructions(state: CollectRun, *, public: bool = False) -> list[str]:
    """What a person said besides the prompt: the instruction, then the notes, oldest first; the `public` ones
    alone for a role that tells what is read."""
    notes = (fact_view.public_note_texts if public else fact_view.note_texts)(state)
    return [*filter(None, [state.settings.instruction.strip()]), *notes]


def is_excluded(intent: CollectIntent, url: str) -> bool:
    """Whether an address is one from which the person wants nothing, or on or below one."""
    below = f"{canonicalize(url)}/"
    addresses = (entry for entry in intent.leave_out_sites if "://" in entry)
    hosts = [entry for entry in intent.leave_out_sites if "://" not in entry]
    return is_blocked(url, hosts) or any(below.startswith(f"{entry}/") for entry in addresses)


def group_links(state: CollectRun, links: Iterable[LinkCandidate]) -> LinkGroups:
    """The links by whether the run may follow them."""
    groups: dict[str, list[LinkCandidate]] = {"": [], "scope": [], "words": []}
    for link in links:
        limit = "words" if is_excluded(state.own.intent, link.url) else ""
        groups[limit if state.settings.allows(link.url) else "scope"].append(link)
    return groups


def choose_links(
    intent: CollectIntent, links: Sequence[LinkCandidate], limit: int
) -> tuple[list[LinkCandidate], int]:
    """The links that a prompt shows, in the order of the page, and how many are left out: first go those that
    are neither about the section, topic or writer nor dated nor outside of menus."""
    passages = [
        Passage(id=str(n), page_id="", url=link.url, start=0, end=0, text=f"{link.text} {link.context}")
        for n, link in enumerate(links)
    ]
    wanted = f"{intent.target_section} {intent.topic} {intent.author}"
    scores = {passage.id: passage.score for passage in rank_passages(wanted, passages, len(passages))}

    def rank(n: int) -> tuple[float, bool, bool, str, int]:
        day = links[n].date if intent.newest else ""
        return scores[str(n)], bool(links[n].date), links[n].content, day, -n

    best = sorted(range(len(links)), key=rank, reverse=True)[:limit]
    return [links[n] for n in sorted(best)], max(0, len(links) - limit)


def list_entries(links: Sequence[LinkCandidate]) -> list[RankedLink]:
    """The entries of a list by its structure, in their order: links beside a date and those in the same kind
    of place, else those in the place that most links have."""
    content = [link for link in links if link.content and link.text]
    dated = {link.place for link in content if link.date}
    places = Counter(link.place for link in content).most_common(1)
    entries = dated or {place for place, n in places if n >= MIN_ENTRIES}
    return [RankedLink(url=link.url, relevance_score=1.0) for link in content if link.place in entries]


def open_ranked_links(
    state: CollectRun, ranked: Sequence[RankedLink], offered: Sequence[LinkCandidate]
) -> list[CrawlNode]:
    """The nodes that a ranking of the current page opens, best first, at most `max_links`.

    The date in the listing wins over the model's, which counts only if the text of the link has its year."""
    known = {canonicalize(link.url): link for link in offered}
    opened: dict[str, CrawlNode] = {}
    for link in sorted(ranked, key=lambda link: -link.relevance_score):
        name = canonicalize(link.url)
        if name not in known or name in opened or len(opened) >= state.settings.collect.max_links:
            continue
        offer, day = known[name], link.detected_date or ""
        is_plausible = day[:4].isdigit() and day[:4] in f"{offer.text} {offer.context} {offer.url}"
        day = offer.date or (day[:10] if is_plausible else "")
        child = open_child(state, state.own.node, offer, len(opened), day=day)
        opened[name] = child.replace(relevance_score=round(link.relevance_score, 3))
    return list(opened.values())


def find_continuation(state: CollectRun, node: CrawlNode, parsed: ParsedPage, kind: str) -> CrawlNode | None:
    """The next page of a "listing" or "thread", at the same depth; None when it is missing or known."""
    name, link = canonicalize(parsed.next_url), LinkCandidate(url=parsed.next_url, text="next page")
    is_known = not name or name in state.own.tree or name in fact_view.visited_urls(state)
    if is_known or not group_links(state, [link])[""]:
        return None
    child = open_child(state, node, link, RANK_FIRST if kind == "thread" else RANK_LAST)
    item = node.item_id if kind == "thread" else ""
    return child.replace(depth=node.depth, continues=kind, item_id=item)


def explain_untimely(intent: CollectIntent, day: str) -> str:
    """Why an entry or item is left out for its date; "" for one in the time range."""
    if intent.covers(day):
        return ""
    before = f"before {intent.since}" if intent.is_too_old(day) else f"newer than {intent.until}"
    return f"Dated {day}: {before}."


def open_child(
    state: CollectRun, parent: CrawlNode, link: LinkCandidate, *rank: int, day: str = ""
) -> CrawlNode:
    """The node of a link on the page of `parent`, dropped when its day is out of the time range."""
    late = explain_untimely(state.own.intent, day)
    return CrawlNode(
        id=canonicalize(link.url),
        url=link.url,
        parent=parent.id,
        anchor=link.text,
        depth=parent.depth + 1,
        path=[*parent.path, *rank],
        detected_date=day,
        status="dropped" if late else "open",
        ended=late,
    )


def explain_end(state: CollectRun, *, at_page_cap: bool) -> tuple[str, str]:
    """Why nothing more is visited: the sentence, and the reason ("enough", "limit" or "budget")."""
    own, limits = state.own, state.settings.collect
    waiting = format_count(len(own.frontier(state)), "page")
    if at_page_cap:
        why = f"all {limits.max_pages} pages of this run are used, and {waiting} still waited"
        raising = " (raise it: --max-pages, or Options on the screen)"
        return why + (raising if state.settings.at_cap != "ask" else ""), "budget"
    if own.is_full:
        wanted = own.intent.max_articles
        why = f"{wanted} were asked for, and as many are gathered"
        if wanted == limits.max_articles and own.frontier(state):
            why += f"; {waiting} still waited (for more: --max-articles, or Options on the screen)"
        return why, "enough"

    held = Counter((node.held, node.status) for node in own.tree.values())
    deep, long, outside = (held[name, "visited"] for name in ("depth", "links", "scope"))
    days = [node.detected_date for node in own.tree.values() if node.status == "dropped"]
    old = 0 if own.kept_items else sum(not own.intent.covers(day) for day in days)
    failed = sum(page.outcome is not Outcome.OK for page in state.pages.values())
    deeper = (
        f"deeper than the depth of {limits.max_depth} allows (raise it: --depth, or Options on the screen)"
    )
    best = f"only the best {limits.max_links} links were followed (start at its next part for the rest)"
    beyond = "outside the allowed domains (allow them: --allow)"
    stopped = [
        (deep, "page leads", "pages lead", deeper),
        (long, "list", "lists", best),
        (outside, "page leads", "pages lead", beyond),
        (held["doubt", "visited"], "decision was", "decisions were", "not sure enough to be followed"),
        (held["words", "dropped"], "page was", "pages were", "excluded by your words"),
        (old, "entry was", "entries were", "out of the time range"),
        (failed if state.pages_read_count else 0, "page", "pages", "could not be read"),
    ]
    told = [
        f"{'of ' if one == 'list' else ''}{format_count(n, one, many)} {rest}"
        for n, one, many, rest in stopped
        if n
    ]
    is_read = state.pages_read_count > 0
    if not told and is_read:
        return "every page that could be reached is read", "enough"
    read = "every page within reach is read" if is_read else "no page could be read"
    return "; ".join([read, *told]), "limit" if deep or long or outside else "enough"
