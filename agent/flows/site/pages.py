"""From addresses and stored pages to what a decision sees: links worth keeping, passages within the prompt's
windows, facts.

Pages are read here and nothing is fetched; what is judged is judged by the roles' own rules."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import source_trust
from agent.flows.shared import fact_view
from agent.flows.shared.citations import build_fact_from_quote
from agent.flows.shared.fact_intake import assess_confidence
from agent.flows.shared.passages import content_passages, fit_passages
from agent.flows.site.state import SiteRun
from agent.retrieval.excerpts import choose_quotes, find_unanswered_words
from agent.retrieval.extractive_answer import (
    choose_asking_text,
    find_best_quotes,
    find_passage_subjects,
    find_uncovered_words,
    score_relevance,
)
from agent.retrieval.required_terms import restore_spelling
from agent.retrieval.sections import infer_headings
from agent.retrieval.site_link_scoring import UnreadLink, score_links
from agent.roles.site.site_decision import ENOUGH_RELEVANCE, UnvisitedUrl
from agent.text.question_analysis import parse_question
from agent.text.urls import canonicalize
from agent.types import Fact, Link, Page, Passage, SiteLimits, SourceFilter

MAX_SITEMAP_ENTRIES = 50_000
"""Addresses of one sitemap that are looked at (as many as the protocol lets it have)."""
MAX_SITEMAP_BYTES = 50_000_000
MAX_UNVISITED_SHOWN = 40
"""Unvisited addresses a decision is shown, best first."""
MAX_PROMPT_CHARS = 60_000
"""Characters of page text that one prompt holds at most, over all pages."""
_LOC = re.compile(rb"<loc>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</loc>", re.IGNORECASE | re.DOTALL)
_MEDIA = re.compile(
    r"\.(?:jpe?g|png|gif|svg|webp|ico|bmp|tiff?|css|js|json|woff2?|ttf|mp[34]|m4[av]|avi|mov|webm|ogg|wav|zip|gz|tgz|rar|7z|exe|dmg|msi|iso|apk|rss|atom)$",
    re.IGNORECASE,
)


def parse_sitemap(page: Page) -> list[str]:
    """The addresses of a sitemap or a list of sitemaps, unpacked when it comes packed."""
    body = page.raw
    if body[:2] == b"\x1f\x8b":
        try:
            body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, MAX_SITEMAP_BYTES)
        except (zlib.error, gzip.BadGzipFile):
            return []
    found = [
        match.group(1).decode("utf-8", "replace").replace("&amp;", "&") for match in _LOC.finditer(body)
    ][:MAX_SITEMAP_ENTRIES]
    return [url for url in found if canonicalize(url)] or [link.url for link in page.links][
        :MAX_SITEMAP_ENTRIES
    ]


def select_links(asked: str, links: Iterable[Link], reach: SourceFilter, limit: int) -> list[Link]:
    """The links to chosen sources that lead to readable pages, each once: the `limit` that bear most on the
    question."""
    kept: dict[str, Link] = {}
    for link in links:
        spelled = canonicalize(link.url)
        good = bool(spelled) and reach.allows(link.url) and not _MEDIA.search(urlsplit(spelled).path)
        if good and (spelled not in kept or not kept[spelled].text):
            kept[spelled] = link
    found = list(kept.values())
    if len(found) <= limit:
        return found
    weights = score_links(parse_question(asked), [UnreadLink(link.url, link.text) for link in found])
    best = sorted(range(len(found)), key=lambda i: (-weights[i], i))[:limit]
    return [found[i] for i in sorted(best)]


def rank_unvisited(state: SiteRun) -> list[UnvisitedUrl]:
    """The addresses that may be explored, best first, with their scores."""
    seen = set(state.own.visited_urls)
    reached = fact_view.visited_urls(state)
    open_ = [
        i
        for i, url in enumerate(state.own.all_discovered_urls)
        if i not in seen and canonicalize(url) not in reached and state.settings.allows(url)
    ]
    addresses = [
        UnreadLink(
            state.own.all_discovered_urls[i],
            state.own.url_texts.get(i, ""),
            state.own.bearings.get(state.own.url_found_on.get(i, -1), 0.0),
        )
        for i in open_
    ]
    weights = score_links(parse_question(question_with_notes(state)), addresses, state.settings.instruction)
    best = sorted(range(len(open_)), key=lambda n: (-weights[n], n))[:MAX_UNVISITED_SHOWN]
    return [
        UnvisitedUrl(
            index=open_[n],
            url=shorten_url(addresses[n].url, state.settings.site),
            text=addresses[n].text[:200],
            score=weights[n],
            found_on=state.own.url_found_on.get(open_[n], -1),
        )
        for n in best
    ]


def question_with_notes(state: SiteRun) -> str:
    """The question as it stands alone, with a person's notes."""
    return " ".join([state.own.search_text(state), *fact_view.note_texts(state)])


def last_typed_text(state: SiteRun) -> str:
    """What was typed last, by itself: the newest note, else the question."""
    return (fact_view.note_texts(state) or [state.question])[-1]


def shorten_url(url: str, limits: SiteLimits) -> str:
    """An address as a prompt shows it: at most `links_max_chars`, the cut marked within the room kept for
    it."""
    if len(url) <= limits.links_max_chars:
        return url
    return url[: max(1, limits.links_max_chars - limits.url_truncation_buffer)] + "..."


def load_best_pages(state: SiteRun, tools: RunContext) -> dict[int, Page]:
    """The stored pages of the run by index, those that bear most on the question first, as many as a prompt
    can hold a piece of."""
    content = state.own.url_content(state)
    most = max(1, 2 * MAX_PROMPT_CHARS // max(1, state.settings.site.content_max_chars))
    best = sorted(
        content, key=lambda i: (i not in state.own.useful_visited_indices, -state.own.bearings.get(i, 0.0), i)
    )[:most]
    return {i: infer_headings(tools.page(content[i])) for i in best}


def passages_for_prompt(state: SiteRun, tools: RunContext) -> list[Passage]:
    """The passages of the visited pages that fit the prompt: the best pages first, each in its own order and
    within its window."""
    question, limits = question_with_notes(state), state.settings.site
    found: list[Passage] = []
    room = max(MAX_PROMPT_CHARS, limits.content_max_chars)
    content = state.own.url_content(state)
    for i, page in load_best_pages(state, tools).items():
        if (
            fact_view.find_struck_source(state, page.final_url or page.url)
            or tools.assess_trust(page, state.trusts).value <= 0
        ):
            continue
        window = fit_passages(
            question, passages_after_edits(state, page, content[i]), min(limits.content_max_chars, room)
        )
        room -= sum(len(passage.text) for passage in window)
        found += window
        if room <= 0:
            break
    return found


def find_missing_terms(state: SiteRun, tools: RunContext) -> list[str]:
    """The words that an answer can't do without and that what was read leaves out; not looked for while no
    page answers well anyway."""
    if not tools.client and max(state.own.bearings.values(), default=0.0) < ENOUGH_RELEVANCE:
        return []
    found, question, own = (
        passages_for_prompt(state, tools),
        question_with_notes(state),
        last_typed_text(state),
    )
    asking, about = choose_asking_text(question, own), find_passage_subjects(found)
    return restore_spelling(
        asking,
        find_uncovered_words(asking, found, about)
        or find_unanswered_words(asking, choose_quotes(question, own, found, about), found, about),
    )


def read_pages(state: SiteRun, tools: RunContext, indices: Sequence[int]) -> Change:
    """What pages that were just visited (or recalled) say on the question: their bearing, and facts with
    verified quotes."""
    question, own, content = question_with_notes(state), last_typed_text(state), state.own.url_content(state)
    bearings: dict[int, float] = {}
    facts: dict[str, Fact] = {}
    refs = []
    for i in indices:
        if i not in content:
            continue
        page = infer_headings(tools.page(content[i]))
        found = passages_after_edits(state, page, content[i])
        bearings[i] = (
            0.0
            if fact_view.find_struck_source(state, page.final_url or page.url)
            else score_relevance(question, own, found)
        )
        quotes = find_best_quotes(question, own, found)
        new = fact_view.apply_person_marks(
            state,
            [
                build_fact_from_quote(question, tools, page, quoted, by="keyless", here=state.trusts)
                for quoted in quotes
            ],
        )
        facts |= {fact.id: fact for fact in new if fact.id not in state.facts}
        url = state.own.all_discovered_urls[i]
        signs = source_trust.assess_trust(page)
        seen = {
            "facts": sum(fact.verified for fact in new),
            "waiting": False,
            "trust": signs.value,
            "trust_why": list(signs.reasons),
        }
        refs.append(state.pages[url].model_copy(update=seen))
    known = [*fact_view.facts_for_prompt(state), *facts.values()]
    level = assess_confidence(state, tools.step, known)
    return {"bearings": bearings, "facts": list(facts.values()), "pages": refs, "confidence": [level]}


def passages_after_edits(state: SiteRun, page: Page, page_id: str) -> list[Passage]:
    """The passages of a page without the words that a person struck, or that do not carry what they corrected
    them to."""
    here, found = page.final_url or page.url, content_passages(page, page_id)
    struck = [
        fact
        for fact in state.facts.values()
        if fact.url == here and fact.decision == "struck" and not fact.struck_with
    ]
    wrong = [
        fact
        for fact in state.facts.values()
        if fact.url == here and fact.rests_on_person and fact.decision == "none"
    ]
    for quote in sorted({fact.quote for fact in struck + wrong if fact.quote}, key=len, reverse=True):
        found = [
            passage.model_copy(update={"text": passage.text.replace(quote, "")})
            if quote in passage.text
            else passage
            for passage in found
        ]
    return [passage for passage in found if passage.text.strip()]
