"""From chosen sources to the text that is posted: what a writer is shown, what is kept of its draft, and the
links below it.

A sentence is kept when quotes that stand in the stored texts carry it, or when it names a picture that was
sent; whatever else was written is left out. The last word on length is code's, and it never cuts a sentence
in two: half a sentence may say the opposite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.engine.context import RunContext
from agent.engine.state import Change, merge, shallow_copy, to_jsonable
from agent.evidence import citation_check, confidence
from agent.flows.reply.state import ReplyRun
from agent.flows.shared.citations import resolve_citations
from agent.flows.shared.fact_intake import add_facts
from agent.flows.shared.passages import content_passages, fit_passages
from agent.flows.shared.verdict import build_answer as verdict_on
from agent.retrieval.answerability import estimate_answer_likelihood, score_question_coverage
from agent.retrieval.query_rewriting import build_search_texts
from agent.retrieval.sections import infer_headings
from agent.retrieval.term_rarity import CollectionCounts
from agent.roles.reply.writing import WritingReply, WritingSentence
from agent.roles.research.report import ReportReply, ReportSentence
from agent.roles.role import RoleResult
from agent.text.contact_info import find_contacts, is_external_contact, remove_mass_mentions
from agent.text.question_analysis import parse_question
from agent.text.urls import canonicalize, find_urls, site
from agent.types import Actor, Answer, Confidence, Fact, Page, PageRef, Passage, Sentence, StatementCounts
from agent.types.reply import LoadedSource

MAX_SOURCE_CHARS = 60_000
"""Characters of the sources' texts that one prompt holds at most; of longer ones the passages that bear most
on the question."""
MIN_CHARS_PER_SOURCE = 8_000
"""Characters that each source may have of that at least."""
LIKELIHOOD_PASSAGES = 10
"""Passages that the likelihood of an answer is taken from, the best ones."""
_BEFORE_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:/{0,2})?(?:[^@/]*@)?", re.IGNORECASE)
"""What stands before the host in an address or a mailbox."""
_LIST_ITEM = re.compile(r"\s*(?:[-*•]|\d+[.)])\s")


def standalone_question(state: ReplyRun) -> str:
    """The open question, in a follow-up together with the previous one: what passages are ranked by."""
    return build_search_texts(state.asked or state.own.open_question(state), state.own.earlier_turns(state))[
        -1
    ]


def build_page_ref(tools: RunContext, source: LoadedSource) -> PageRef:
    """A loaded source as a page of the run."""
    return PageRef(
        url=source.url,
        page_id=source.page_id,
        final_url=source.url,
        title=source.title,
        found_on="the index",
        step=tools.step,
    )


def select_passages(state: ReplyRun, tools: RunContext) -> list[Passage]:
    """The passages of the loaded sources that a prompt holds: all of them when they fit. Scored by the
    question's words they hold."""
    sources = [source for source in state.own.loaded if source.page_id]
    found: list[Passage] = []
    room = MAX_SOURCE_CHARS
    for n, source in enumerate(sources):
        share = max(MIN_CHARS_PER_SOURCE, room - MIN_CHARS_PER_SOURCE * (len(sources) - n - 1))
        page = infer_headings(tools.page(source.page_id))
        shown = fit_passages(standalone_question(state), content_passages(page, source.page_id), share)
        room -= sum(len(passage.text) for passage in shown)
        found += shown
    return score_question_coverage(standalone_question(state), found, _load_term_counts(state, tools))


def estimate_likelihood(state: ReplyRun, tools: RunContext, passages: Sequence[Passage]) -> float:
    """How likely these passages answer the question, by counting words (0..1)."""
    best = sorted(passages, key=lambda passage: -passage.score)[:LIKELIHOOD_PASSAGES]
    return estimate_answer_likelihood(
        standalone_question(state), best, _load_term_counts(state, tools)
    ).probability


def _load_term_counts(state: ReplyRun, tools: RunContext) -> CollectionCounts:
    """How rare the question's words are in the library."""
    return tools.library.count_terms(list(parse_question(standalone_question(state)).weights))


def build_draft(
    state: ReplyRun, tools: RunContext, judgement: RoleResult, passages: Sequence[Passage]
) -> Change:
    """The change a draft makes: its facts, the answer, and `draft`, the text that may be posted; "" with a
    `why` when there is none."""
    reply: WritingReply = judgement.value
    told_pages = _AllowedContacts(
        [tools.page(source.page_id) for source in state.own.loaded if source.page_id]
    )
    draft = [_clear_unsafe_contacts(sentence, told_pages) for sentence in reply.answer]
    facts, sentences = resolve_citations(
        standalone_question(state),
        tools,
        [sentence for sentence in draft if sentence.text],
        passages,
        by=judgement.by,
    )
    seen, by_picture = _collect_picture_facts(state, tools, draft, judgement.by)
    change = add_facts(
        state,
        tools.step,
        [*facts.values(), *seen.values()],
        question=standalone_question(state),
        model=reply.confidence if judgement.by == "model" else None,
    )
    level: Confidence = change["confidence"][0]
    now = merge(shallow_copy(state), to_jsonable(change))
    written = ReportReply(answer=sentences, certainty="", missing=reply.missing, journey="")
    vetted = [url for sentence in draft for url in find_urls(sentence.text)]
    answer = verdict_on(now, judgement.model_copy(update={"value": written}), tools.step, addresses=vetted)
    kept = _keep_supported(answer, sentences, by_picture)
    text, room = _fit_length(kept, state.settings.reply.max_answer_chars)
    said = {sentence.text for sentence in room}
    left_out = [
        sentence.text
        for sentence, as_kept in zip(reply.answer, draft, strict=True)
        if as_kept.text not in said
    ]
    if not room:
        why = "no sentence is short enough" if kept else reply.missing or "the sources do not answer it"
        return {
            **change,
            "left_out": left_out,
            "draft": "",
            "why": f"Nothing could be said: {why.rstrip('.')}.",
        }
    counts = StatementCounts(
        backed=sum(sentence.backed for sentence in room),
        unsupported=sum(not sentence.backed for sentence in room),
        dropped=answer.statements.dropped,
    )
    told = {
        "verdict": answer.verdict if answer.verdict != "no_evidence" else "partial",
        "reason": "none",
        "sentences": room,
        "statements": counts,
        "sources": citation_check.collect_sources(room, now.facts),
        "certainty": _describe_certainty(room, level.value),
        "confidence": level.value,
    }
    return {
        **change,
        "left_out": left_out,
        "draft": text,
        "answers": [answer.model_copy(update=told)],
    }


def append_links(state: ReplyRun, answer: Answer, draft: str) -> str:
    """The text that is posted: the draft, and below it the addresses of the chosen sources that have one,
    those cited first."""
    quoted = [source.page_id for source in answer.sources]
    loaded = sorted(
        (source for source in state.own.loaded if source.page_id),
        key=lambda source: source.page_id not in quoted,
    )
    urls = list(dict.fromkeys(source.url for source in loaded if canonicalize(source.url)))
    return draft + ("\n\nLinks:\n" + "\n".join(f"- {url}" for url in urls) if urls else "")


def _collect_picture_facts(
    state: ReplyRun, tools: RunContext, draft: Sequence[WritingSentence], by: Actor
) -> tuple[dict[str, Fact], dict[str, list[str]]]:
    """The facts that sentences take from the pictures they name, and which sentence (by its text) rests on
    which of them."""
    facts: dict[str, Fact] = {}
    resting: dict[str, list[str]] = {}
    for sentence in draft:
        shown = _build_picture_facts(state, sentence)
        if shown and sentence.text:
            facts |= {fact.id: fact.model_copy(update={"step": tools.step, "by": by}) for fact in shown}
            resting[sentence.text] = [fact.id for fact in shown]
    return facts, resting


def _build_picture_facts(state: ReplyRun, sentence: WritingSentence) -> list[Fact]:
    """What a sentence takes from the pictures it names, as facts nobody can look up: never verified."""
    there = [
        (n, state.own.pictures[n - 1])
        for n in dict.fromkeys(sentence.pictures)
        if 1 <= n <= state.own.picture_count(state)
    ]
    said = sentence.text.strip()
    return [
        Fact(
            id=f"picture{n}",
            statement=said,
            quote="",
            url=picture.url,
            title=f"Picture {n}",
            sha256=picture.sha256,
            origin="image",
        )
        for n, picture in there
    ]


def _clear_unsafe_contacts(sentence: WritingSentence, told: _AllowedContacts) -> WritingSentence:
    """The sentence on one line; without a text when it sends people where no source sends them."""
    text = " ".join(sentence.text.split())
    return sentence.model_copy(
        update={
            "text": remove_mass_mentions(text)
            if all(told.is_allowed(contact) for contact in find_contacts(text))
            else ""
        }
    )


@dataclass(frozen=True)
class _AllowedContacts:
    """What the loaded sources say, to look up where they send people.

    A document is the operator's own and may send them anywhere; a page of the web only to its own site.
    """

    pages: Sequence[Page]

    def is_allowed(self, contact: str) -> bool:
        """Does a source say it, and may it?"""
        return any(self._page_allows(page, contact) for page in self.pages)

    def _page_allows(self, page: Page, contact: str) -> bool:
        if canonicalize(contact) and canonicalize(contact) == canonicalize(page.final_url or page.url):
            return True
        if contact.casefold() not in f"{page.title}\n{page.text}".casefold():
            return False
        own = site(page.final_url or page.url)
        return (
            not is_external_contact(contact)
            or not canonicalize(page.url)
            or own == site(f"https://{_BEFORE_HOST.sub('', contact)}")
        )


def _keep_supported(
    answer: Answer, sentences: Sequence[ReportSentence], by_picture: dict[str, list[str]]
) -> list[Sentence]:
    """What is supported: the backed sentences, and those that name a picture that was sent."""
    checked = answer.sentences or [Sentence(text=sentence.text) for sentence in sentences]
    kept = []
    for sentence in checked:
        if sentence.backed:
            kept.append(sentence)
        elif sentence.text in by_picture:
            kept.append(sentence.model_copy(update={"fact_ids": by_picture[sentence.text]}))
    return kept


def _fit_length(sentences: Sequence[Sentence], most: int) -> tuple[str, list[Sentence]]:
    """The sentences from the first on that fit, whole, and their text; entries of a list each on a line of
    their own."""
    text, fitted = "", list[Sentence]()
    for sentence in sentences:
        joint = "" if not text else "\n" if _LIST_ITEM.match(sentence.text) else " "
        if len(text) + len(joint) + len(sentence.text) > most:
            break
        text, fitted = text + joint + sentence.text, [*fitted, sentence]
    return text, fitted


def _describe_certainty(sentences: Sequence[Sentence], level: float) -> str:
    seen = sum(not sentence.backed for sentence in sentences)
    pictures = (
        f" {seen} of {len(sentences)} statements rest on a picture alone, which nothing can check."
        if seen
        else ""
    )
    return f"{confidence.describe_level(level)}.{pictures}"
