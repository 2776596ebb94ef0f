"""From addresses and stored pages to what a decision sees: links worth keeping, passages within the prompt's windows, facts.

Pages are read here and nothing is fetched; what is judged is judged by the roles' own rules.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from agent.evidence import confidence, conflicts, trust
from agent.flows import moves
from agent.flows.quoting import fact_of
from agent.flows.site_state import Site
from agent.flows.state import Research
from agent.roles.excerpts import chosen_quotes, left_out
from agent.roles.site_decision import ENOUGH, Unvisited
from agent.roles.support import bearing, best_quotes, gaps, pointing, subject
from agent.state import Change
from agent.text.addresses import Address, scores
from agent.text.coverage import cover
from agent.text.passages import passages
from agent.text.point import as_spelled
from agent.text.question import read
from agent.text.rank import rank
from agent.text.sections import with_headings
from agent.toolbox import Tools
from agent.types import Fact, Link, Page, Passage, Reach, SiteLimits
from agent.urls import canonical, site

LISTED = 50_000
"""Addresses of one sitemap that are looked at (as many as the protocol lets it have)."""
SITEMAP_BYTES = 50_000_000
SHOWN = 40
"""Unvisited addresses a decision is shown, best first."""
MENU = 0.8
"""The share of link texts among its lines from which a passage is a menu."""
TITLED = 4
"""Words of a cell that is taken for the title of the page it leads to, not for a name."""
KNOWLEDGE = 60_000
"""Characters of page text that one prompt holds at most, over all pages."""
_LOC = re.compile(rb"<loc>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</loc>", re.IGNORECASE | re.DOTALL)
_MEDIA = re.compile(
    r"\.(?:jpe?g|png|gif|svg|webp|ico|bmp|tiff?|css|js|json|woff2?|ttf|mp[34]|m4[av]|avi|mov|webm|ogg|wav|zip|gz|tgz|rar|7z|exe|dmg|msi|iso|apk|rss|atom)$",
    re.IGNORECASE,
)


def listed(page: Page) -> list[str]:
    """The addresses of a sitemap or a list of sitemaps, unpacked when it comes packed."""
    body = page.raw
    if body[:2] == b"\x1f\x8b":
        try:
            body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, SITEMAP_BYTES)
        except (zlib.error, gzip.BadGzipFile):
            return []
    found = [match.group(1).decode("utf-8", "replace").replace("&amp;", "&") for match in _LOC.finditer(body)][:LISTED]
    return [url for url in found if canonical(url)] or [link.url for link in page.links][:LISTED]


def worth_keeping(asked: str, links: Iterable[Link], reach: Reach, limit: int) -> list[Link]:
    """The links to chosen sources that lead to readable pages, each once: the `limit` that bear most on the question."""
    kept: dict[str, Link] = {}
    for link in links:
        spelled = canonical(link.url)
        good = bool(spelled) and reach.admits(link.url) and not _MEDIA.search(urlsplit(spelled).path)
        if good and (spelled not in kept or not kept[spelled].text):
            kept[spelled] = link
    found = list(kept.values())
    if len(found) <= limit:
        return found
    weights = scores(read(asked), [Address(link.url, link.text) for link in found])
    best = sorted(range(len(found)), key=lambda i: (-weights[i], i))[:limit]
    return [found[i] for i in sorted(best)]


def unvisited(state: Site) -> list[Unvisited]:
    """The addresses that may be explored, best first, with their scores."""
    seen = set(state.visited_urls)
    reached = moves.visited(state)
    open_ = [
        i for i, url in enumerate(state.all_discovered_urls)
        if i not in seen and canonical(url) not in reached and state.settings.admits(url)
    ]  # fmt: skip
    addresses = [
        Address(state.all_discovered_urls[i], state.url_texts.get(i, ""), state.bearings.get(state.url_found_on.get(i, -1), 0.0)) for i in open_
    ]
    weights = scores(read(wanted(state)), addresses, state.settings.instruction)
    best = sorted(range(len(open_)), key=lambda n: (-weights[n], n))[:SHOWN]
    return [
        Unvisited(
            index=open_[n], url=shortened(addresses[n].url, state.settings.site), text=addresses[n].text[:200], score=weights[n],
            found_on=state.url_found_on.get(open_[n], -1),
        )
        for n in best
    ]  # fmt: skip


def wanted(state: Site) -> str:
    """The question as it stands alone, with a person's notes."""
    return " ".join([state.asked or state.question, *moves.notes(state)])


def typed(state: Site) -> str:
    """What was typed last, by itself: the newest note, else the question."""
    return (moves.notes(state) or [state.question])[-1]


def shortened(url: str, limits: SiteLimits) -> str:
    """An address as a prompt shows it: at most `links_max_chars`, the cut marked within the room kept for it."""
    if len(url) <= limits.links_max_chars:
        return url
    return url[: max(1, limits.links_max_chars - limits.url_truncation_buffer)] + "..."


def pages_of(state: Site, tools: Tools) -> dict[int, Page]:
    """The stored pages of the run by index, those that bear most on the question first, as many as a prompt can hold a piece of."""
    content = state.url_content
    most = max(1, 2 * KNOWLEDGE // max(1, state.settings.site.content_max_chars))
    best = sorted(content, key=lambda i: (i not in state.useful_visited_indices, -state.bearings.get(i, 0.0), i))[:most]
    return {i: with_headings(tools.page(content[i])) for i in best}


def knowledge(state: Site, tools: Tools) -> list[Passage]:
    """The passages of the visited pages that fit the prompt: the best pages first, each in its own order and within its window."""
    question, limits = wanted(state), state.settings.site
    found: list[Passage] = []
    room = max(KNOWLEDGE, limits.content_max_chars)
    content = state.url_content
    for i, page in pages_of(state, tools).items():
        if moves.struck(state, page.final_url or page.url) or tools.trust(page, state.trusts).value <= 0:
            continue
        window = within(question, heard(state, page, content[i]), min(limits.content_max_chars, room))
        room -= sum(len(passage.text) for passage in window)
        found += window
        if room <= 0:
            break
    return found


def lacking(state: Site, tools: Tools) -> list[str]:
    """The words that an answer can't do without and that what was read leaves out; not looked for while no page answers well anyway."""
    if not tools.client and max(state.bearings.values(), default=0.0) < ENOUGH:
        return []
    found, question, own = knowledge(state, tools), wanted(state), typed(state)
    asking, about = pointing(question, own), subject(found)
    return as_spelled(asking, gaps(asking, found, about) or left_out(asking, chosen_quotes(question, own, found, about), found, about))


def within(question: str, found: Sequence[Passage], limit: int) -> list[Passage]:
    """The passages of one page that fit `limit` characters: all, or the best for the question, in the page's order."""
    if sum(len(passage.text) for passage in found) <= limit:
        return list(found)
    kept: list[Passage] = []
    for passage in rank(question, found, len(found)):
        if sum(len(p.text) for p in kept) + len(passage.text) <= limit:
            kept.append(passage)
    return sorted(kept, key=lambda passage: passage.start)


def read_pages(state: Site, tools: Tools, indices: Sequence[int]) -> Change:
    """What pages that were just visited (or recalled) say on the question: their bearing, and facts with verified quotes."""
    question, own, content = wanted(state), typed(state), state.url_content
    bearings: dict[int, float] = {}
    facts: dict[str, Fact] = {}
    refs = []
    for i in indices:
        if i not in content:
            continue
        page = with_headings(tools.page(content[i]))
        found = heard(state, page, content[i])
        bearings[i] = 0.0 if moves.struck(state, page.final_url or page.url) else bearing(question, own, found)
        quotes = best_quotes(question, own, found)
        new = moves.heeding(state, [fact_of(question, tools, page, quoted, by="keyless", here=state.trusts) for quoted in quotes])
        facts |= {fact.id: fact for fact in new if fact.id not in state.facts}
        url = state.all_discovered_urls[i]
        signs = trust.of_page(page)
        seen = {"facts": sum(fact.verified for fact in new), "waiting": False, "trust": signs.value, "trust_why": list(signs.reasons)}
        refs.append(state.pages[url].model_copy(update=seen))
    known = [*moves.memory(state), *facts.values()]
    level = confidence.assess(
        step=tools.step, facts=known, conflicts=state.conflicts.values(), coverage=cover(question, known).share,
        previous=state.confidence[-1] if state.confidence else None,
    )  # fmt: skip
    return {"bearings": bearings, "facts": list(facts.values()), "pages": refs, "confidence": [level]}


def heard(state: Site, page: Page, page_id: str) -> list[Passage]:
    """The passages of a page without the words that a person struck, or that do not carry what they corrected them to."""
    here, found = page.final_url or page.url, evidence(page, page_id)
    struck = [fact for fact in state.facts.values() if fact.url == here and fact.decision == "struck" and not fact.struck_with]
    wrong = [fact for fact in state.facts.values() if fact.url == here and fact.mine and fact.decision == "none"]
    for quote in sorted({fact.quote for fact in struck + wrong if fact.quote}, key=len, reverse=True):
        found = [passage.model_copy(update={"text": passage.text.replace(quote, "")}) if quote in passage.text else passage for passage in found]
    return [passage for passage in found if passage.text.strip()]


def evidence(page: Page, page_id: str) -> list[Passage]:
    """The passages of a page that say something: lists of links lead somewhere, but state nothing. A heading that is a link belongs to the
    page it leads to: what stands under it here is a taste of that, not what that heading promises."""
    texts = {" ".join(link.text.split()) for link in page.links}
    here = canonical(page.final_url)
    away = {" ".join(link.text.split()) for link in page.links if canonical(link.url) != here}
    found = [passage for passage in passages(page, page_id) if not _is_menu(passage, texts | {page.title})]
    return [passage.model_copy(update={"heading": ""}) if passage.heading.split(" › ")[-1] in away else passage for passage in found]


def _is_menu(passage: Passage, texts: set[str]) -> bool:
    lines = [" ".join(line.split()) for line in passage.text.split("\n") if line.strip()]
    lines = [line for line in lines if not (passage.rows and line == passage.heading)]
    return bool(lines) and sum(_leads_on(line, texts) for line in lines) >= MENU * len(lines)


def _leads_on(line: str, texts: set[str]) -> bool:
    """Is a line a link, or a row of a listing: beside its date and such, the title of another page?"""
    cells = [cell.strip() for cell in line.split("|")]
    return line in texts or any(cell in texts and len(cell.split()) >= TITLED for cell in cells)


def clashes(state: Research, facts: Sequence[Fact]) -> Change:
    """Conflicts among facts of several sites (one site is one voice), and the marks that follow."""
    if len({site(fact.url) for fact in facts if fact.url}) < 2:
        return {}
    found = conflicts.find(facts, state.conflicts.values())
    return {"conflicts": [clash for clash in found if clash != state.conflicts.get(clash.id)], "facts": conflicts.dispute(facts, found)}
