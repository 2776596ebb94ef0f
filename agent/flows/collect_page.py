"""One stored page seen by code: its posts, how it is built, its links, its next page. Reads from the store; judges nothing."""

from __future__ import annotations

from dataclasses import dataclass

from agent.flows.collect_state import Collect
from agent.flows.collect_wishes import forbidden, is_barred
from agent.text.orders import ordered_links
from agent.toolbox import Tools
from agent.tools import encoding, listing, media, posts
from agent.types import Page
from agent.types.collected import Branch, Offer, Post, Signs
from agent.urls import canonical


@dataclass(frozen=True)
class Sight:
    """A page, and what code makes of its markup."""

    page: Page
    posts: list[Post]
    signs: Signs
    offers: list[Offer]
    next_url: str


def look(state: Collect, tools: Tools, branch: Branch) -> Sight:
    """The page of a branch. What is no HTML has its text and its links, and no structure."""
    page = tools.page(branch.page_id, raw=True)
    url = page.final_url or page.url
    if media.kind(page.raw, page.content_type) != "html":
        offers = [Offer(url=link.url, text=link.text) for link in page.links]
        return Sight(page, [], Signs(words=len(page.text.split())), offers, "")
    html = encoding.decode(page.raw, page.content_type)
    found = _placed(posts.find(html, state.today), page, branch.page_id)
    banned = {canonical(link.url) for link in ordered_links(page.text, page.links)}
    offers = [offer for offer in listing.offers(html, url, state.today) if canonical(offer.url) not in banned]
    signs = listing.signs(html, url, posts=len(found), text=page.text, today=state.today)
    return Sight(page, found, signs, offers, listing.next_page(html, url))


def reachable(state: Collect, sight: Sight) -> list[Offer]:
    """The page's links that the run may follow: inside the allowed domains, and not ruled out by a person's words."""
    entries = forbidden(state)
    return [offer for offer in sight.offers if state.settings.admits(offer.url) and not is_barred(offer.url, entries)]


def _placed(found: list[Post], page: Page, page_id: str) -> list[Post]:
    """The posts with their places in the stored text, each looked for behind the one before; on one line where the page has it so."""
    placed: list[Post] = []
    at = 0
    for post in found:
        forms = dict.fromkeys((post.text, " ".join(post.text.split())))
        start, text = next(((start, text) for begin in (at, 0) for text in forms if (start := page.text.find(text, begin)) >= 0), (-1, post.text))
        at = start + len(text) if start >= 0 else at
        placed.append(post.model_copy(update={"text": text, "page_id": page_id, "start": start, "end": at if start >= 0 else -1}))
    return placed
