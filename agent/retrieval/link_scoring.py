"""Scores what could be read next: search hits, links and names as leads of a research run, and the unread
addresses of a site.

A lead is ranked as a short passage by the one scorer: its score is the mean of how well its words fit the
question among the other leads, and of its `prior`, fixed by where it was found: 1 for the first hit of a
search and for one whose title the question names, 1/2 for the second, 1/3 for the third; for a link the
relevance of the best quote on its page. Nothing here knows what was fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from urllib.parse import unquote, urlsplit

from agent.retrieval.scorer import covered_share, question_terms, rank_passages, score_texts, weigh_words
from agent.text.question_analysis import extract_keywords, strip_question
from agent.text.sentences import find_sentence_spans
from agent.text.short_cache import cache_short
from agent.text.tokens import stem_words, tokenize
from agent.text.urls import canonicalize
from agent.types import Fact, Lead, Link, Page, Passage, SearchResult

MAX_OPEN_LEADS = 60
"""Open leads a run keeps: the cost of a step must not grow with the run."""
MAX_LINKS, MAX_TEXT_CHARS, CACHED_LINKS = 800, 100_000, 32_768
"""Links of a page that are scored, characters of its text that are searched for their sentences, and links
whose words are remembered."""
MAX_QUERY_CHARS, CONTEXT_CHARS = 200, 300
"""Characters of a question that is searched as it is; on each side of a link text that are searched for its
sentence, and of that sentence."""
_TITLE_SUFFIX = re.compile(r"\s*\([^)]{0,200}\)\s*$|\s+[|–—·-]\s+[^|–—·]{2,40}$")
_CAMEL_CASE_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NO_WORD = re.compile(r"[^\w]+|_")
_FILE_EXTENSION = re.compile(r"\.(?:html?|php|aspx?|jsp|md|txt)$", re.IGNORECASE)


def lead_id(kind: str, value: str) -> str:
    """The id of a lead, the same for each spelling of an address and each order of a query's words."""
    spelled = canonicalize(value) if kind == "url" else " ".join(sorted(set(stem_words(value))))
    return sha256(f"{kind}:{spelled or value}".encode()).hexdigest()[:12]


def strip_title_suffix(title: str) -> str:
    """A title without a trailing bracket or site name: "The Cup (1999 film)" is "The Cup"."""
    return _TITLE_SUFFIX.sub("", " ".join(title.split())).strip() or title


def is_title_named(text: str, title: str) -> bool:
    """Whether a text holds a title word for word, without the title's bracket or site name."""
    short = strip_title_suffix(title)
    return len(short) > 3 and f" {' '.join(tokenize(short))} " in f" {' '.join(tokenize(text))} "


def make_hit_leads(question: str, result: SearchResult, step: int) -> list[Lead]:
    """The hits of a search as leads, best first."""
    leads = [
        Lead(
            id=lead_id("url", hit.url),
            kind="url",
            value=hit.url,
            text=f"{hit.title}. {hit.snippet}".strip(". ")[:400],
            why=f"result {n} of its search",
            score=0.0,
            prior=1.0 if is_title_named(question, hit.title) else round(1 / n, 5),
            found_on=f"search: {result.query}",
            step=step,
            publication=hit.publication,
        )
        for n, hit in enumerate(result.hits, start=1)
    ]
    return score_leads(question, leads)


def make_page_leads(question: str, page: Page, facts: Sequence[Fact], step: int) -> list[Lead]:
    """The links of a page worth keeping, best first. `facts` are the page's own, with their relevance."""
    prior = max((fact.relevance for fact in facts), default=0.0)
    leads = []
    for link in rank_links(question, page.links, page.text, limit=12):
        sentence = _anchor_sentence(page.text, strip_title_suffix(link.text))
        leads.append(
            Lead(
                id=lead_id("url", link.url),
                kind="url",
                value=link.url,
                text=link.text.strip()[:MAX_QUERY_CHARS] or link.url,
                why=sentence[:CONTEXT_CHARS] or f"a link of “{page.title[:80]}”",
                score=0.0,
                prior=prior,
                found_on=page.url,
                step=step,
            )
        )
    return score_leads(question, leads)


def rank_links(question: str, links: Sequence[Link], text: str, limit: int = 30) -> list[Link]:
    """The links whose text or sentence covers most of the question, best first, each address once."""
    weights, scores = weigh_words(question), dict[str, tuple[float, Link]]()
    text = text[:MAX_TEXT_CHARS]
    for link in links[:MAX_LINKS]:
        address = canonicalize(link.url)
        if address and address not in scores and link.text.strip():
            sentence = _anchor_sentence(text, strip_title_suffix(link.text))
            score = covered_share(weights, f"{link.text} {sentence}") + (0.2 if sentence else 0.0)
            scores[address] = (score, link)
    return [link for _, link in sorted(scores.values(), key=lambda entry: -entry[0])[:limit]]


def _anchor_sentence(text: str, anchor: str) -> str:
    """The sentence a link text is in; "" when it is not in the text, or on a line of its own."""
    at = text.find(anchor) if len(anchor) > 2 else -1
    if at < 0:
        return ""
    left, right = max(0, at - CONTEXT_CHARS), min(len(text), at + len(anchor) + CONTEXT_CHARS)
    window = text[left:right]
    sentence = next((window[a:b] for a, b in find_sentence_spans(window) if a <= at - left < b), "")
    return sentence if len(sentence) > len(anchor) + 3 else ""


def score_leads(question: str, leads: Iterable[Lead]) -> list[Lead]:
    """The leads with their scores (0..1) among one another, best first: by title and snippet of a hit, by a
    link's or name's text with its sentence."""
    leads, passages = list(leads), list[Passage]()
    for n, lead in enumerate(leads):
        words = lead.text if lead.found_on.startswith("search:") else f"{lead.text} {lead.why}"
        passages.append(Passage(id=str(n), page_id="", url="", start=0, end=0, text=words))
    fits = {passage.id: passage.score for passage in rank_passages(question, passages, len(leads))}
    scored = [lead.replace(score=round((lead.prior + fits[str(n)]) / 2, 5)) for n, lead in enumerate(leads)]
    return sorted(scored, key=lambda lead: (-lead.score, lead.step, lead.value))


def merge_leads(known: Mapping[str, Lead], found: Iterable[Lead]) -> list[Lead]:
    """The changes that found leads make: new leads, and open ones that are found in a second place. The
    higher prior counts; a search that finds a lead again becomes its finding place."""
    changed: dict[str, Lead] = {}
    for lead in found:
        old = changed.get(lead.id) or known.get(lead.id)
        if old is None:
            changed[lead.id] = lead
        elif old.status == "open" and old.found_on != lead.found_on:
            prior = max(old.prior, lead.prior)
            update: dict[str, object] = {"prior": prior, "score": max(old.score, lead.score)}
            if lead.found_on.startswith("search:"):
                update |= {"found_on": lead.found_on, "why": lead.why}
            changed[lead.id] = old.model_copy(update=update)
    return list(changed.values())


def make_first_query(question: str) -> str:
    """The first search: the question as asked when it is short, else its content words."""
    bare = strip_question(question) or question.strip()
    return bare if len(bare) <= MAX_QUERY_CHARS else extract_keywords(bare)[:CONTEXT_CHARS]


@cache_short(CACHED_LINKS)
def split_path_words(url: str) -> str:
    """The words of an address's path and query: "/Help/order-tracking.html" gives "Help order tracking"."""
    parts = urlsplit(url)
    path = f"{_FILE_EXTENSION.sub('', unquote(parts.path))} {unquote(parts.query)}"
    return " ".join(filter(None, _NO_WORD.split(_CAMEL_CASE_BREAK.sub(" ", path))))


@cache_short(CACHED_LINKS)
def _link_words(url: str, text: str) -> tuple[str, ...]:
    """The stems of a link text and of its address's path."""
    return tuple(stem_words(f"{text} {split_path_words(url)}"))


def score_links(question: str, links: Sequence[Link]) -> list[float]:
    """A score (0..1) for each unread address of a site, by the one scorer: as a passage of its link text and
    the words of its path. Words are counted over these addresses: on a site about one thing that thing's name
    is in all of them."""
    words = [_link_words(link.url, link.text) for link in links]
    return score_texts(question_terms(question), words, [()] * len(words))
