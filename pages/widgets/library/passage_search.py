"""Search inside the library: the best passages, the words marked; how they were found is told."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from agent.errors import StoreError
from agent.library.collection import Library
from agent.text.plurals import format_count
from agent.text.tokens import content_stems, stem, tokenize
from agent.types import LibraryScope, LibrarySearchResult, Passage
from pages.widgets.shell import badges, empty_state, escape, markup, ui, url_state

FIND_KEY, TAGS_KEY, MORE_KEY = "library-search", "library-search-tags", "library-search-more"
URL_FIELDS: dict[str, url_state.UrlField] = {"q": (FIND_KEY, "", None)}
PAGE_SIZE = 15


def draw(shelf: Library) -> None:
    """The box, and what was found."""
    url_state.restore(URL_FIELDS)
    first: Any = {"on_change": lambda: st.session_state.pop(MORE_KEY, None)}
    with st.container(horizontal=True, vertical_alignment="bottom", key="library-search-row"):
        asked = st.text_input(
            "Search the texts",
            key=FIND_KEY,
            type="search",
            live="400ms",
            placeholder="words or a question, in any language",
            **first,
        )
        tags = st.multiselect(
            "Only with a tag",
            list(shelf.tags()),
            key=TAGS_KEY,
            width=260,
            placeholder="everything",
            **first,
        )
    url_state.save(URL_FIELDS)
    if not (asked or "").strip():
        empty_state.draw(
            "No search yet",
            "Type a few words or a whole question: relevant passages appear with their words marked.",
        )
        return
    k = int(st.session_state.get(MORE_KEY, PAGE_SIZE))
    try:
        found = shelf.search(asked or "", k, scope=LibraryScope(tags=tags))
    except StoreError as trouble:
        st.warning(escape.md(str(trouble)), icon=":material/warning:")
        return
    st.html(f'<div class="ts" role="status">{render_summary(found, more=len(found.hits) >= k)}</div>')
    if not found.hits:
        empty_state.draw(
            "No passage holds these words",
            "Try other words or fewer of them; a tag chosen above narrows the search.",
        )
        return
    with st.container(gap="small", key="library-passages"):
        for hit in found.hits:
            _draw_passage(hit, asked or "")
    if len(found.hits) >= k:
        more = {MORE_KEY: k + PAGE_SIZE}
        ui.button("Show more", "library-search-next", st.session_state.update, more, icon="expand_more")


def render_summary(found: LibrarySearchResult, *, more: bool = False) -> str:
    """How many passages there are and how they were found, as HTML."""
    count = format_count(len(found.hits), "passage")
    line = f"{'The best ' if more else ''}{count}, best first, found by {found.by}."
    asked = f"<summary>Why not by meaning, too?</summary>{escape.html(found.note)}"
    why = f'<details class="small soft">{asked}</details>' if found.note else ""
    return f'<p class="small soft">{line}</p>{why}'


def _draw_passage(hit: Passage, query: str) -> None:
    """A passage: its title opens the stored page with the passage marked."""
    with st.container(gap=None, key=f"library-passage-{hit.id.replace(':', '-')}"):
        under = f" › {hit.heading}" if hit.heading else ""
        label = escape.md(f"{hit.title or hit.source_id}{under}", 130)
        at = {"id": hit.page_id, "from": str(hit.start), "to": str(hit.end), "find": query}
        ui.link("pages/page.py", label, "", at)
        header = "" if hit.text.startswith(hit.label) else escape.html(escape.shorten(hit.label, 160))
        columns = markup.paragraph(f"{badges.render('rows of a table')} {header}" if hit.rows else "")
        place = escape.render_link(hit.url) if escape.href(hit.url) else escape.html(hit.source_id)
        telling = markup.paragraph(render_snippet(hit.text, query, rows=hit.rows), "snippet")
        st.html(f'<div class="ts passage">{columns}{telling}{markup.paragraph(place)}</div>')


MAX_CHARS = 340
"""Characters of a passage that are shown."""
_BROKEN_LINE = re.compile(r"(?<=[^\s.:;!?|])[ \t]*\n[ \t]*(?=[^\W\d_A-Z])")
"""The end of a line in the middle of a sentence, as PDFs have it: small letters follow."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
Match = tuple[int, int, str]
"""A word that was looked for: where it starts and ends, and its stem."""


def find_matches(text: str, query: str) -> list[Match]:
    """Where the words of the query stand in the text, whatever their endings; in scripts without blanks,
    their pairs of characters, of which overlapping ones become one."""
    wanted, found = set(content_stems(query)), list[Match]()
    for word in _WORD.finditer(text):
        parts, at = tokenize(word.group()), word.start()
        if len(parts) == 1 or word.group().isascii():
            found += [(at, word.end(), one) for one in map(stem, parts) if one in wanted][:1]
            continue
        for n in range(len(word.group()) - 1):
            pair = "".join(tokenize(word.group()[n : n + 2]))
            if pair in wanted and found and at + n < found[-1][1]:
                found[-1] = (found[-1][0], at + n + 2, found[-1][2])
            elif pair in wanted:
                found.append((at + n, at + n + 2, pair))
    return found


def render_snippet(text: str, query: str, *, rows: bool = False) -> str:
    """The telling part of a passage as HTML, the query's words marked. `rows`: lines are a table's rows."""
    text = text.rstrip() if rows else _BROKEN_LINE.sub(" ", text.rstrip())
    found = find_matches(text, query)
    start, end = choose_window(text, found)
    parts, at = [], start
    for a, b, _ in found:
        if a < start or b > end:
            continue
        parts += [_escape_on_one_line(text[at:a]), f"<mark>{_escape_on_one_line(text[a:b])}</mark>"]
        at = b
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return before + "".join(parts) + _escape_on_one_line(text[at:end]) + after


def choose_window(text: str, found: list[Match]) -> tuple[int, int]:
    """The first stretch of at most MAX_CHARS characters, cut at blanks, with the most different words."""
    if len(text) <= MAX_CHARS:
        return 0, len(text)
    best, most = 0, -1
    for first, _, _ in found or [(0, 0, "")]:
        start = max(0, first - MAX_CHARS // 6)
        different = len({name for a, b, name in found if start <= a and b <= start + MAX_CHARS})
        if different > most:
            best, most = start, different
    start = min(best, len(text) - MAX_CHARS)
    start = text.find(" ", max(0, start - 1), start + 40) + 1 if start else 0
    end = text.rfind(" ", start, start + MAX_CHARS) if start + MAX_CHARS < len(text) else len(text)
    return start, end if end > start + MAX_CHARS // 2 else min(len(text), start + MAX_CHARS)


def _escape_on_one_line(text: str) -> str:
    """Escaped, on one line: lines are parted by a dot."""
    return escape.html(re.sub(r"\s*\n\s*", " · ", text)) if text.strip() else " " * bool(text)
