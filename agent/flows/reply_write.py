"""From chosen sources to the text that is posted: what a writer is shown, what is kept of its draft, and the links below it.

A sentence is kept when quotes that stand in the stored texts carry it, or when it names a picture that was sent; whatever else was
written is left out. The last word on length is code's, and it never cuts a sentence in two: half a sentence may say the opposite.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.evidence import answers, confidence
from agent.flows import moves
from agent.flows.quoting import cited
from agent.flows.reply_state import Reply
from agent.flows.site_reading import clashes, evidence, within
from agent.flows.verdict import answer as verdict_on
from agent.roles.answerability import judge, relevance
from agent.roles.report import ReportReply, ReportSentence
from agent.roles.role import Judgement
from agent.roles.writing import WritingReply, WritingSentence
from agent.state import Change, fork, jsonable, merge
from agent.text.contacts import calm, contacts, leads_away
from agent.text.coverage import cover
from agent.text.question import read
from agent.text.rarity import Counts
from agent.text.sections import with_headings
from agent.toolbox import Tools
from agent.types import Answer, Fact, Page, PageRef, Passage, Sentence, Speaker, Statements
from agent.types.reply import Loaded
from agent.urls import canonical, found_in, site

KNOWLEDGE = 60_000
"""Characters of the sources' texts that one prompt holds at most; of longer ones the passages that bear most on the question."""
LEAST = 8_000
"""Characters that each source may have of that at least."""
WEIGHED = 10
"""Passages that the likelihood of an answer is taken from, the best ones."""
_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:/{0,2})?(?:[^@/]*@)?", re.IGNORECASE)
"""What stands before the host in an address or a mailbox."""
_LISTED = re.compile(r"\s*(?:[-*•]|\d+[.)])\s")


def asked(state: Reply) -> str:
    """The question as it stands alone."""
    return state.asked or state.open_question


def reference(tools: Tools, source: Loaded) -> PageRef:
    """A loaded source as a page of the run."""
    return PageRef(url=source.url, page_id=source.page_id, final_url=source.url, title=source.title, found_on="the index", step=tools.step)


def window(state: Reply, tools: Tools) -> list[Passage]:
    """The passages of the loaded sources that a prompt holds: all of them when they fit. Scored by the question's words they hold."""
    sources = [source for source in state.loaded if source.page_id]
    found: list[Passage] = []
    room = KNOWLEDGE
    for n, source in enumerate(sources):
        share = max(LEAST, room - LEAST * (len(sources) - n - 1))
        page = with_headings(tools.page(source.page_id))
        shown = within(asked(state), evidence(page, source.page_id), share)
        room -= sum(len(passage.text) for passage in shown)
        found += shown
    return relevance(asked(state), found, _counts(state, tools))


def likelihood(state: Reply, tools: Tools, passages: Sequence[Passage]) -> float:
    """How likely these passages answer the question, by counting words (0..1)."""
    best = sorted(passages, key=lambda passage: -passage.score)[:WEIGHED]
    return judge(asked(state), best, _counts(state, tools)).probability


def _counts(state: Reply, tools: Tools) -> Counts:
    """How rare the question's words are in the library."""
    return tools.holdings.counts(list(read(asked(state)).weights))


def drafted(state: Reply, tools: Tools, judgement: Judgement, passages: Sequence[Passage]) -> Change:
    """The change a draft makes: its facts, the answer, and `draft`, the text that may be posted; "" with a `why` when there is none."""
    reply: WritingReply = judgement.value
    told_pages = _Told([tools.page(source.page_id) for source in state.loaded if source.page_id])
    draft = [_sayable(sentence, told_pages) for sentence in reply.answer]
    facts, sentences = cited(asked(state), tools, [sentence for sentence in draft if sentence.text], passages, by=judgement.by)
    marked = clashes(state, list(facts.values()))
    facts |= {fact.id: fact for fact in marked.pop("facts", [])}
    seen, by_picture = _by_picture(state, tools, draft, judgement.by)
    change: Change = {**marked, "facts": [*facts.values(), *seen.values()]}
    now = merge(fork(state), jsonable(change))
    level = confidence.assess(
        step=tools.step, facts=moves.memory(now), conflicts=now.conflicts.values(), coverage=cover(asked(state), moves.memory(now)).share,
        model=reply.confidence if judgement.by == "model" else None,
    )  # fmt: skip
    merge(now, jsonable({"confidence": [level]}))
    written = ReportReply(answer=sentences, certainty="", missing=reply.missing, journey="")
    vetted = [url for sentence in draft for url in found_in(sentence.text)]
    answer = verdict_on(now, judgement.model_copy(update={"value": written}), tools.step, addresses=vetted)
    kept = _kept(answer, sentences, by_picture)
    text, room = _fitted(kept, state.settings.reply.max_answer_chars)
    said = {sentence.text for sentence in room}
    left_out = [sentence.text for sentence, as_kept in zip(reply.answer, draft, strict=True) if as_kept.text not in said]
    if not room:
        why = "no sentence is short enough" if kept else reply.missing or "the sources do not answer it"
        return {**change, "confidence": [level], "left_out": left_out, "draft": "", "why": f"Nothing could be said: {why.rstrip('.')}."}
    counts = Statements(
        backed=sum(sentence.backed for sentence in room), unsupported=sum(not sentence.backed for sentence in room), dropped=answer.statements.dropped
    )
    told = {
        "verdict": answer.verdict if answer.verdict != "no_evidence" else "partial", "reason": "none", "sentences": room, "statements": counts,
        "sources": answers.sources(room, now.facts), "certainty": _certainty(room, level.value), "confidence": level.value,
    }  # fmt: skip
    return {**change, "confidence": [level], "left_out": left_out, "draft": text, "answers": [answer.model_copy(update=told)]}


def with_links(state: Reply, answer: Answer, draft: str) -> str:
    """The text that is posted: the draft, and below it the addresses of the chosen sources that have one, those cited first."""
    quoted = [source.page_id for source in answer.sources]
    loaded = sorted((source for source in state.loaded if source.page_id), key=lambda source: source.page_id not in quoted)
    urls = list(dict.fromkeys(source.url for source in loaded if canonical(source.url)))
    return draft + ("\n\nLinks:\n" + "\n".join(f"- {url}" for url in urls) if urls else "")


def _by_picture(state: Reply, tools: Tools, draft: Sequence[WritingSentence], by: Speaker) -> tuple[dict[str, Fact], dict[str, list[str]]]:
    """The facts that sentences take from the pictures they name, and which sentence (by its text) rests on which of them."""
    facts: dict[str, Fact] = {}
    resting: dict[str, list[str]] = {}
    for sentence in draft:
        shown = _pictures(state, sentence)
        if shown and sentence.text:
            facts |= {fact.id: fact.model_copy(update={"step": tools.step, "by": by}) for fact in shown}
            resting[sentence.text] = [fact.id for fact in shown]
    return facts, resting


def _pictures(state: Reply, sentence: WritingSentence) -> list[Fact]:
    """What a sentence takes from the pictures it names, as facts nobody can look up: never verified."""
    there = [(n, state.pictures[n - 1]) for n in dict.fromkeys(sentence.pictures) if 1 <= n <= state.seen]
    said = sentence.text.strip()
    return [
        Fact(id=f"picture{n}", statement=said, quote="", url=picture.url, title=f"Picture {n}", sha256=picture.sha256, origin="image")
        for n, picture in there
    ]


def _sayable(sentence: WritingSentence, told: _Told) -> WritingSentence:
    """The sentence on one line; without a text when it sends people where no source sends them."""
    text = " ".join(sentence.text.split())
    return sentence.model_copy(update={"text": calm(text) if all(told.knows(contact) for contact in contacts(text)) else ""})


@dataclass(frozen=True)
class _Told:
    """What the loaded sources say, to look up where they send people.

    A document is the operator's own and may send them anywhere; a page of the web only to its own site.
    """

    pages: Sequence[Page]

    def knows(self, contact: str) -> bool:
        """Does a source say it, and may it?"""
        return any(self._says(page, contact) for page in self.pages)

    def _says(self, page: Page, contact: str) -> bool:
        if canonical(contact) and canonical(contact) == canonical(page.final_url or page.url):
            return True
        if contact.casefold() not in f"{page.title}\n{page.text}".casefold():
            return False
        own = site(page.final_url or page.url)
        return not leads_away(contact) or not canonical(page.url) or own == site(f"https://{_HOST.sub('', contact)}")


def _kept(answer: Answer, sentences: Sequence[ReportSentence], by_picture: dict[str, list[str]]) -> list[Sentence]:
    """What is supported: the backed sentences, and those that name a picture that was sent."""
    checked = answer.sentences or [Sentence(text=sentence.text) for sentence in sentences]
    kept = []
    for sentence in checked:
        if sentence.backed:
            kept.append(sentence)
        elif sentence.text in by_picture:
            kept.append(sentence.model_copy(update={"fact_ids": by_picture[sentence.text]}))
    return kept


def _fitted(sentences: Sequence[Sentence], most: int) -> tuple[str, list[Sentence]]:
    """The sentences from the first on that fit, whole, and their text; entries of a list each on a line of their own."""
    text, fitted = "", list[Sentence]()
    for sentence in sentences:
        joint = "" if not text else "\n" if _LISTED.match(sentence.text) else " "
        if len(text) + len(joint) + len(sentence.text) > most:
            break
        text, fitted = text + joint + sentence.text, [*fitted, sentence]
    return text, fitted


def _certainty(sentences: Sequence[Sentence], level: float) -> str:
    told = "High" if level >= 0.85 else "Moderate" if level >= 0.6 else "Low"
    seen = sum(not sentence.backed for sentence in sentences)
    pictures = f" {seen} of {len(sentences)} statements rest on a picture alone, which nothing can check." if seen else ""
    return f"{told} ({level:.0%}).{pictures}"
