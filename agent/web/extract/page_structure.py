"""How a page is built: its posts, its links with what stands beside them, its measures and its next page."""

from __future__ import annotations

from agent.web.extract import encoding, forum_posts, html_limits, link_lists
from agent.web.extract.extraction import PageStructure
from agent.web.extract.page_dates import ReadingDay


def read_structure(
    raw: bytes, content_type: str, url: str, day: str, day_first: bool | None, characters: int
) -> PageStructure:
    """That of the page at `url`, read on `day` (ISO), whose extracted text has that many characters."""
    today = ReadingDay(day)
    today.day_first = day_first
    html = html_limits.limit_html(encoding.decode(raw, content_type))
    posts = forum_posts.find_posts(html, today)
    links = link_lists.find_link_candidates(html, url, today)
    features = link_lists.measure_page_features(html, links, posts=len(posts), characters=characters)
    return PageStructure(posts, links, features, link_lists.find_next_page(html, url))
