"""Roles of the site flow: SITE_DECISION chooses between answering and exploring, DRAFT writes the
answer or refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from agent.retrieval.answer import PassageAnswer, find_answer
from agent.retrieval.scorer import build_search_texts, find_unseen_terms
from agent.roles.note_requests import parse_length_request
from agent.roles.role import PlacedSentence, Role, RoleReply, Share, WriterReply
from agent.text.dialogue_acts import is_unresolved_reference
from agent.text.language import MIN_QUESTION_LETTERS, detect_language
from agent.text.tokens import content_stems
from agent.types import Passage, Record, Turn

MIN_USEFUL_SHARE = 0.7
"""A page is useful with at least this share of the best one's relevance."""


class SitePage(Record):
    """A visited page: a window of its text, and the score of its best passage (0..1)."""

    index: int
    url: str
    title: str = ""
    text: str = ""
    relevance: float = 0.0
    is_enough: bool = False
    """Whether the answer by rule is led by it, and good."""


class UnvisitedUrl(Record):
    """An address that could be explored: its link text, and the index of the page it is on."""

    index: int
    url: str
    text: str = ""
    found_on: int = -1


class AgentDecision(RoleReply):
    """What to do next."""

    decision: Literal["answer", "explore"]
    reasoning: str = Field(default="", description="one or two sentences: why, and what is still missing")
    selected_url_indices: list[int] = Field(
        default_factory=list, description="with explore: unvisited addresses, the most promising first"
    )
    useful_visited_indices: list[int] = Field(
        default_factory=list, description="indices of the visited pages that help to answer"
    )
    standalone_question: str = Field(
        default="", description="the question with what the conversation adds; empty when it stands alone"
    )


def site_decision_fallback(
    *,
    question: str,
    history: list[Turn],
    pages: list[SitePage],
    unvisited: list[UnvisitedUrl],
    iteration: int,
    max_iterations: int,
    max_urls: int,
    **others: object,
) -> AgentDecision:
    """Answer when the pages are enough; else explore the first addresses, best first, if any."""
    enough = next((page for page in pages if page.is_enough), None)
    relevance = max((page.relevance for page in pages), default=0.0)
    useful = [
        page.index for page in pages if page.relevance and page.relevance >= MIN_USEFUL_SHARE * relevance
    ]
    if enough:
        reason = f"“{enough.title or enough.url}” holds what is asked."
    elif not history and is_unresolved_reference(question):
        reason = "The question does not name what it is about."
    elif not unvisited:
        reason = "There is no further address to explore."
    elif iteration >= max_iterations:
        reason = f"All {max_iterations} explorations are used."
    else:
        chosen = unvisited[:max_urls]
        names = ", ".join(f"“{(address.text or address.url)[:60]}”" for address in chosen[:3])
        return AgentDecision(
            decision="explore",
            reasoning=f"No passage that was read fits well enough yet; next come {names}.",
            selected_url_indices=[address.index for address in chosen],
            useful_visited_indices=useful,
        )
    return AgentDecision(decision="answer", reasoning=reason, useful_visited_indices=useful)


SITE_DECISION = Role(
    name="site_decision",
    reply=AgentDecision,
    fallback=site_decision_fallback,
    cut=("pages", "graph", "unvisited", "history"),
)
"""Decides whether the pages read are enough to answer, or which addresses to read next."""


class DraftQuote(RoleReply):
    """Verbatim words of one passage."""

    passage_id: str
    quote: str = Field(description="copied character by character from that passage")


class DraftSentence(PlacedSentence):
    """One sentence of the answer and the words of the pages that state it."""

    text: str
    quotes: list[DraftQuote] = Field(default_factory=list)


class DraftReply(WriterReply):
    """An answer, or a refusal with a polite message."""

    refusal: Literal["none", "off_topic", "not_covered", "needs_clarification"] = "none"
    answer: list[DraftSentence] = Field(default_factory=list, description="empty when refusing")
    message: str = Field(
        default="",
        description="when refusing: one or two polite sentences to the person, or the question to ask back",
    )
    confidence: Share = 0.0

    @model_validator(mode="after")
    def drop_refused_sentences(self) -> Self:
        """A refusal without sentences."""
        self.answer = [] if self.refusal != "none" else self.answer
        return self


def make_sentences(found: PassageAnswer) -> list[DraftSentence]:
    """An answer of passages as sentences: for each part its lead, the passages below it, and the others."""
    return [
        DraftSentence(
            text=quote.statement or quote.quote,
            quotes=[DraftQuote(passage_id=quote.passage_id, quote=quote.quote)],
            place=place,
            heading=quote.heading,
            part_question=part.question if len(found.parts) > 1 else "",
            fit=part.fit if place == "lead" else None,
        )
        for part in found.parts
        for place, quote in part.placed
    ]


def draft_fallback(
    *,
    question: str,
    asked: str,
    history: list[Turn],
    instruction: str,
    notes: list[str],
    passages: list[Passage],
    site: str,
    **others: object,
) -> DraftReply:
    """The passages that fit the newest note or the question best, as quotes; a refusal when none fits."""
    texts = [f"{passage.title} {passage.heading} {passage.text}" for passage in passages]
    vague = asked == question and is_unresolved_reference(question)
    whole = build_search_texts(question, history)[-1] if vague else asked
    most = parse_length_request(instruction).max_sentences
    for wanted in [*notes[-1:], " ".join([whole, *notes])] if history or not vague else []:
        found = find_answer(wanted, passages).keep_parts_of(" ".join([question, *notes]))
        if not found.is_refusal:
            return DraftReply(
                answer=make_sentences(found)[: most or None],
                confidence=best_fit(found),
            )
    missing = [term for part in found.parts for term in part.missing] if passages and not vague else []
    unseen = missing or find_unseen_terms(question, texts)
    refusal, message = refuse(question, history, texts, unseen, site)
    return DraftReply(refusal=refusal, message=message)


def best_fit(found: PassageAnswer) -> float:
    """The fit of the part that fits best."""
    return max((part.fit for part in found.parts), default=0.0)


DRAFT = Role(
    name="draft",
    reply=DraftReply,
    fallback=draft_fallback,
    cut=("passages", "history", "former"),
)
"""Writes the answer to a question about a site from passages of its pages, or refuses it politely."""


RefusalKind = Literal["off_topic", "not_covered", "needs_clarification"]


def refuse(
    question: str, history: Sequence[Turn], texts: Sequence[str], unseen: Sequence[str], site: str
) -> tuple[RefusalKind, str]:
    """The kind and the message. `texts` were read, `unseen` are the question's words in none of them."""
    words = ", ".join(f"“{word}”" for word in unseen[:4])
    if not history and is_unresolved_reference(question):
        return (
            "needs_clarification",
            "This question does not name what it is about. What, or whom, do you mean?",
        )
    asked = detect_language(question, MIN_QUESTION_LETTERS)
    if asked and 2 * sum(detect_language(text) not in ("", asked) for text in texts) > len(texts):
        return "not_covered", (
            f"The pages of {site} are in another language than this question. "
            "Without a model only its own words are searched for: please ask in the language of the pages."
        )
    if not history and unseen and len(unseen) >= len(content_stems(question)):
        return "off_topic", (
            f"I answer from the pages of {site}, and this does not seem to be about them: "
            f"no page that was read contains {words}."
        )
    reason = f"do not contain {words}" if words else "do not answer this"
    return "not_covered", f"The pages of {site} that were read {reason}, so I would rather not guess."
