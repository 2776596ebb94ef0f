"""The structure of a stored page: its posts, dated entries, features, links and next page. Judges nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.engine.context import RunContext
from agent.flows.collect.state import CollectRun
from agent.text.dates import ReadingDay
from agent.text.urls import canonicalize
from agent.types import Page
from agent.types.collection import CrawlNode, LinkCandidate, PageFeatures, Post
from agent.web import mime
from agent.web.extract import dispatch
from agent.web.extract.dated_sections import DatedSection, LinkedText, find_own_date, find_sections
from agent.web.extract.extraction import PageStructure
from agent.web.extract.forum_posts import find_message
from agent.web.prompt_injection import find_injected_links


@dataclass(frozen=True)
class ParsedPage:
    """A page and the structure of its markup."""

    page: Page
    posts: list[Post]
    features: PageFeatures
    links: list[LinkCandidate]
    """Without those among instructions to machines."""
    next_url: str
    sections: list[DatedSection] = field(default_factory=list)
    """The dated entries of a changelog or of release notes."""
    own_date: str = ""
    """The day the page states of itself, in its metadata or its first lines."""
    trouble: str = ""
    """Why the structure of its markup could not be read: it then has its links only."""

    def list_addresses(self) -> list[str]:
        """The addresses of all its links."""
        return [*(link.url for link in self.page.links), *(link.url for link in self.links)]


def parse_page(state: CollectRun, tools: RunContext, node: CrawlNode) -> ParsedPage:
    """The page of a node. Other types than HTML have no posts but a message, and no next page."""
    page = tools.page(node.page_id, raw=True)
    today = ReadingDay.of_page(state.own.intent.today, page.text, page.language)
    is_html = mime.detect_kind(page.raw, page.content_type) == "html"
    built, trouble = PageStructure(), ""
    if is_html:
        built, trouble = dispatch.extract_structure(page, today, tools.checkpoint)
    candidates = built.links
    if trouble or not is_html:
        candidates = [LinkCandidate(url=link.url, text=link.text) for link in page.links]
    injected = {canonicalize(link.url) for link in find_injected_links(page.text, page.links)}
    links = [link for link in candidates if canonicalize(link.url) not in injected]
    posts, next_url, at = list[Post](), built.next_url, 0
    for post in built.posts:  # each is searched for behind the previous one
        forms = dict.fromkeys((post.text, " ".join(post.text.split())))
        places = ((page.text.find(text, begin), text) for begin in (at, 0) for text in forms)
        start, text = next((place for place in places if place[0] >= 0), (-1, post.text))
        end = start + len(text) if start >= 0 else -1
        at = end if start >= 0 else at
        posts.append(post.replace(text=text, page_id=node.page_id, start=start, end=end))
    linked = LinkedText(page.links)
    message = find_message(page.text, linked, today) if len(posts) < 2 else None
    if message:
        posts, next_url = [message.replace(page_id=node.page_id)], ""
    is_divided = not posts and not built.features.article
    sections = find_sections(page.text, page.headings, linked, today) if is_divided else []
    own_date = page.published_at or find_own_date(page.text, today)
    features = built.features.replace(
        words=len(page.text.split()), posts=len(posts), message=bool(message), sections=len(sections)
    )
    trouble = trouble and f"Its posts were not told apart. {trouble}"
    return ParsedPage(page, posts, features, links, next_url, sections, own_date, trouble)
