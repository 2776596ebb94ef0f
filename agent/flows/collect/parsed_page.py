"""One stored page seen by code: its posts, how it is built, its links, its next page. Reads from the store;
judges nothing."""

from __future__ import annotations

from dataclasses import dataclass

from agent.engine.context import RunContext
from agent.flows.collect.constraints import is_ruled_out, list_ruled_out
from agent.flows.collect.state import CollectRun
from agent.text.urls import canonicalize
from agent.types import Page
from agent.types.collection import CrawlNode, LinkCandidate, PageFeatures, Post
from agent.web import mime
from agent.web.extract import encoding, forum_posts, link_lists
from agent.web.prompt_injection import find_injected_links


@dataclass(frozen=True)
class ParsedPage:
    """A page, and what code makes of its markup."""

    page: Page
    posts: list[Post]
    features: PageFeatures
    link_candidates: list[LinkCandidate]
    next_url: str


def parse_page(state: CollectRun, tools: RunContext, branch: CrawlNode) -> ParsedPage:
    """The page of a branch. What is no HTML has its text and its links, and no structure."""
    page = tools.page(branch.page_id, raw=True)
    url = page.final_url or page.url
    if mime.detect_kind(page.raw, page.content_type) != "html":
        offers = [LinkCandidate(url=link.url, text=link.text) for link in page.links]
        return ParsedPage(page, [], PageFeatures(words=len(page.text.split())), offers, "")
    html = encoding.decode(page.raw, page.content_type)
    found = _locate_posts(forum_posts.find_posts(html, state.own.today), page, branch.page_id)
    banned = {canonicalize(link.url) for link in find_injected_links(page.text, page.links)}
    offers = [
        offer
        for offer in link_lists.find_link_candidates(html, url, state.own.today)
        if canonicalize(offer.url) not in banned
    ]
    signs = link_lists.measure_page_features(
        html, url, posts=len(found), text=page.text, today=state.own.today
    )
    return ParsedPage(page, found, signs, offers, link_lists.find_next_page(html, url))


def list_allowed_links(state: CollectRun, sight: ParsedPage) -> list[LinkCandidate]:
    """The page's links that the run may follow: inside the allowed domains, and not ruled out by a person's
    words."""
    entries = list_ruled_out(state)
    return [
        offer
        for offer in sight.link_candidates
        if state.settings.allows(offer.url) and not is_ruled_out(offer.url, entries)
    ]


def _locate_posts(found: list[Post], page: Page, page_id: str) -> list[Post]:
    """The posts with their places in the stored text, each looked for behind the one before; on one line
    where the page has it so."""
    placed: list[Post] = []
    at = 0
    for post in found:
        forms = dict.fromkeys((post.text, " ".join(post.text.split())))
        start, text = next(
            (
                (start, text)
                for begin in (at, 0)
                for text in forms
                if (start := page.text.find(text, begin)) >= 0
            ),
            (-1, post.text),
        )
        at = start + len(text) if start >= 0 else at
        placed.append(
            post.model_copy(
                update={"text": text, "page_id": page_id, "start": start, "end": at if start >= 0 else -1}
            )
        )
    return placed
