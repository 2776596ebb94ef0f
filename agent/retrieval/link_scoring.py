"""Where to look next: search hits, links and names as leads, all scored on one scale. Pure functions of
types.

A score is the estimated probability that following the lead helps. What the finding place says (`prior`) is
settled when the lead is made: for a hit its rank and title, for a link the page and the sentence that carry
it. What it adds to what is known by now is weighed again at each step. Weights: logistic regressions on about
250 questions over linked encyclopedia pages, cross-validated, then rounded; every rounding that kept the
share of fully supported questions was taken. Nothing here knows what was fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import exp, log

from agent.retrieval import multi_hop
from agent.retrieval.term_coverage import added_share, covered_share, measure_coverage
from agent.text.question_analysis import (
    COMMON_WORD_WEIGHT,
    ParsedQuestion,
    extract_keywords,
    parse_question,
    remove_urls,
)
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import content_stems, stem, stem_prefix, stem_words, tokenize
from agent.text.urls import canonicalize
from agent.types import Fact, Lead, Link, Page, SearchResult

MAX_OPEN_LEADS = 60
"""Open leads a run keeps: the cost of a step must not grow with the run."""
GAIN_WEIGHT = 2.5
"""What covering all that is still missing is worth, on the logit scale."""
MAX_LINKS, MAX_TEXT_CHARS = 800, 100_000
"""Links of a page that are weighed, and characters of its text that are searched for their sentences: a step
must stay short."""
_CONTEXT_CHARS = 300
"""Characters looked at on each side of an anchor for its sentence."""
_TITLE_SUFFIX = re.compile(r"\s*\([^)]{0,200}\)\s*$|\s+[|–—·-]\s+[^|–—·]{2,40}$")


def lead_id(kind: str, value: str) -> str:
    """The identity of a lead: the same address, or a query of the same words, is the same lead wherever it is
    found."""
    spelled = canonicalize(value) if kind == "url" else " ".join(sorted(set(stem_words(value))))
    return sha256(f"{kind}:{spelled or value}".encode()).hexdigest()[:12]


def strip_title_suffix(title: str) -> str:
    """A title without a trailing bracket or site name: "The Cup (1999 film)" is "The Cup"."""
    return _TITLE_SUFFIX.sub("", " ".join(title.split())).strip() or title


def match_title(asked: ParsedQuestion, title: str) -> tuple[float, bool]:
    """How much of a title's own words stand in the question, and whether the question names the title
    outright."""
    short = strip_title_suffix(title)
    words = content_stems(short)
    inside = sum(word in asked.weights for word in words) / len(words) if words else 0.0
    return inside, len(
        short
    ) > 3 and f" {' '.join(tokenize(short))} " in f" {' '.join(tokenize(asked.text))} "


def make_hit_leads(question: str, result: SearchResult, step: int) -> list[Lead]:
    """The hits of a search as leads, best first. Their order is the engine's judgement and part of the
    prior."""
    asked, sought = parse_question(question), parse_question(result.query)
    leads = []
    for n, hit in enumerate(result.hits):
        inside, outright = max(match_title(asked, hit.title), match_title(sought, hit.title))
        prior = _probability(-4.6 + 4.0 / (1 + n) + 1.0 * inside + 2.5 * outright)
        leads.append(
            Lead(
                id=lead_id("url", hit.url),
                kind="url",
                value=hit.url,
                text=f"{hit.title}. {hit.snippet}".strip(". ")[:400],
                why=f"result {n + 1} of its search",
                prior=prior,
                found_on=f"search: {result.query}",
                step=step,
            )
        )
    return score_leads(question, leads, [])


def make_page_leads(
    question: str, page: Page, facts: Sequence[Fact], step: int, limit: int = 12
) -> list[Lead]:
    """The links of a page worth keeping, best first. `facts` are the page's own (with their relevance): its
    bearing."""
    asked = parse_question(question)
    bearing = max((fact.relevance for fact in facts), default=0.0)
    links = rank_links(question, page.links, page.text, limit=limit)
    here = 0.8 * bearing + _title_score(asked, page.title) + 1.5 / max(1, len(page.links))
    leads = [_make_link_lead(asked, page, link, here + 0.9 / (1 + n), step) for n, link in enumerate(links)]
    return score_leads(question, leads, facts)


def _title_score(asked: ParsedQuestion, title: str) -> float:
    inside, outright = match_title(asked, title)
    return 1.6 * inside + 1.5 * outright


def _make_link_lead(asked: ParsedQuestion, page: Page, link: Link, here: float, step: int) -> Lead:
    """A link in running text is judged by its sentence, one outside (a menu, a list of links) by its anchor
    alone."""
    sentence = _anchor_sentence(page.text, strip_title_suffix(link.text))
    if sentence:
        beside = covered_share(asked, sentence) - covered_share(asked, page.title)
        weight = 2.7 * covered_share(asked, sentence) + max(0.0, beside)
    else:
        weight = 2.7 * covered_share(asked, link.text)
    return Lead(
        id=lead_id("url", link.url),
        kind="url",
        value=link.url,
        text=link.text.strip()[:200] or link.url,
        why=sentence[:300] or f"a link of “{page.title[:80]}”",
        prior=_probability(-6.0 + here + weight),
        found_on=page.url,
        step=step,
    )


def rank_links(question: str, links: Sequence[Link], text: str, limit: int = 30) -> list[Link]:
    """The links of a page most likely to lead on, best first: their sentence or their anchor shares words
    with the question."""
    asked = parse_question(question)
    scored: list[tuple[float, int, Link]] = []
    seen: set[str] = set()
    text = text[:MAX_TEXT_CHARS]
    for n, link in enumerate(links[:MAX_LINKS]):
        address = canonicalize(link.url)
        if not address or address in seen or not link.text.strip():
            continue
        seen.add(address)
        sentence = _anchor_sentence(text, strip_title_suffix(link.text))
        scored.append(
            (covered_share(asked, f"{link.text} {sentence}") + (0.2 if sentence else 0.0), -n, link)
        )
    return [link for _, _, link in sorted(scored, key=lambda entry: entry[:2], reverse=True)[:limit]]


def _anchor_sentence(text: str, anchor: str) -> str:
    """The sentence an anchor stands in; "" when it is not in the text, or is a line of its own (a menu or
    list)."""
    at = text.find(anchor) if len(anchor) > 2 else -1
    if at < 0:
        return ""
    left, right = max(0, at - _CONTEXT_CHARS), min(len(text), at + len(anchor) + _CONTEXT_CHARS)
    window = text[left:right]
    sentence = next((window[a:b] for a, b in find_sentence_spans(window) if a <= at - left < b), "")
    return sentence if len(sentence) > len(anchor) + 3 else ""


def score_leads(question: str, leads: Iterable[Lead], facts: Sequence[Fact]) -> list[Lead]:
    """The leads with their scores by what is known now, best first. Cheap enough to call at every step."""
    asked = parse_question(question)
    lacking = {
        word for open_word in measure_coverage(question, facts).missing for word in stem_words(open_word)
    }
    covered = {word for word in asked.weights if word not in lacking}
    rescored = [lead.model_copy(update={"score": _score(asked, lead, covered)}) for lead in leads]
    return sorted(rescored, key=lambda lead: (-lead.score, lead.step, lead.value))


def _score(asked: ParsedQuestion, lead: Lead, covered: set[str]) -> float:
    if not lead.prior:
        return lead.score
    return _probability(_logit(lead.prior) + GAIN_WEIGHT * added_share(asked, lead.text, covered))


def _probability(logit: float) -> float:
    return round(1 / (1 + exp(-max(-30.0, min(30.0, logit)))), 5)


def _logit(probability: float) -> float:
    bounded = max(1e-5, min(1 - 1e-5, probability))
    return log(bounded / (1 - bounded))


def merge_leads(known: Mapping[str, Lead], found: Iterable[Lead]) -> list[Lead]:
    """What changes when leads are found: the new ones, and open ones that a second finding place speaks for,
    too.

    Two places together are worth what at least one of them being right is worth; a search that finds a lead
    again becomes its finding place, so that the search can be looked into."""
    changed: dict[str, Lead] = {}
    for lead in found:
        old = changed.get(lead.id) or known.get(lead.id)
        if old is None:
            changed[lead.id] = lead
        elif old.status == "open" and old.found_on != lead.found_on:
            prior = round(1 - (1 - old.prior) * (1 - lead.prior), 5)
            place = (
                {"found_on": lead.found_on, "why": lead.why} if lead.found_on.startswith("search:") else {}
            )
            changed[lead.id] = old.model_copy(
                update={"prior": prior, "score": max(old.score, lead.score, prior), **place}
            )
    return list(changed.values())


def keep_best_leads(leads: Iterable[Lead]) -> list[Lead]:
    """The best `KEPT` of the open leads; the others are dropped from the state."""
    return sorted(leads, key=lambda lead: (-lead.score, lead.step, lead.value))[:MAX_OPEN_LEADS]


def make_bridge_leads(question: str, facts: Sequence[Fact], limit: int = 6) -> list[Lead]:
    """Searches that go on from what was found: a name of a good quote, with those of the question's words its
    page left open."""
    asked = parse_question(question)
    found: dict[str, Lead] = {}
    for bridge in multi_hop.find_bridges(asked, facts):
        fact = bridge.fact
        rest = _uncovered_words(asked, f"{fact.title} {fact.quote}")
        for name, weight in bridge.names:
            query = " ".join([name, *rest])
            score = round(weight * (bridge.covered_share + 0.3 * match_title(asked, fact.title)[0]) / 1.3, 4)
            lead = Lead(
                id=lead_id("query", query),
                kind="query",
                value=query,
                text=name,
                why=f"named in “{fact.quote[:160]}”",
                prior=score,
                score=score,
                found_on=fact.url,
                step=fact.step,
            )
            if lead.id not in found or found[lead.id].score < score:
                found[lead.id] = lead
    return sorted(found.values(), key=lambda lead: -lead.score)[:limit]


def _uncovered_words(asked: ParsedQuestion, text: str) -> list[str]:
    """Up to five of the question's words that a text does not hold, the faint ones only when there are no
    others."""
    held = {stem_prefix(word) for word in stem_words(text)}
    lacking = {word for word in asked.weights if stem_prefix(word) not in held}
    telling = {word for word in lacking if asked.weights[word] > COMMON_WORD_WEIGHT} or lacking
    return [word for word in dict.fromkeys(tokenize(asked.text)) if stem(word) in telling][:5]


def make_first_query(question: str) -> str:
    """The first search: the question as asked when it is short, else its words of content."""
    bare_question = remove_urls(question) or question.strip()
    return bare_question if len(bare_question) <= 200 else extract_keywords(bare_question)[:300]
