"""The last steps of `reply`, from chosen sources to the text that is posted, or to silence. A sentence stays
when verbatim quotes support it, or it names a picture that was sent. Code enforces the length, by whole
sentences: half a sentence may state the opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from agent.answering.draft import ask_writer, draft_from_quotes
from agent.answering.pages import content_passages
from agent.answering.verdict import finish_answer, limit_answer, no_answer, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence.report_words import words_for
from agent.flows.reply.state import ReplyRun
from agent.retrieval.scorer import CountedPassages, rank_passages
from agent.roles.reply import VERIFICATION, WRITING, WritingReply, WritingSentence
from agent.roles.role import RoleResult
from agent.text.contacts import remove_unfounded_contacts
from agent.text.plurals import format_count
from agent.text.sentences import LIST_MARK
from agent.text.urls import canonicalize, find_urls, remove_unknown_urls
from agent.types import Answer, Fact, Passage, Reason, Sentence
from agent.types.reply import VerificationResult

MAX_SOURCE_CHARS = 60_000
"""Characters of source text in one prompt; of longer sources the most relevant passages."""
MIN_CHARS_PER_SOURCE = 8_000
_CALL = re.compile(
    r"<[@#!&:][^\s<>]{1,60}>|(?<![\w@.])@\w[\w.-]+|\b(?!https?:)[a-z][a-z0-9+.-]+://[^\s)]+|\bjavascript:[^\s)]+",
    re.IGNORECASE,
)
"""A mention of a person or channel, or an address that opens a program."""
_MASS_MENTION = re.compile(r"(?<!\w)@(?=(?:everyone|here|channel|all)\b)", re.IGNORECASE)


def write(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Write a draft from the loaded texts, of which what is supported may be posted.

    Each sentence is checked against its quotes; one that fails is repaired once by its writer, else left
    out, as is one with a contact that its quotes do not give, of which the writer hears once."""
    own, settings = state.own, state.settings.reply
    passages, question = select_passages(state, tools), own.search_texts(state)[-1]
    pages = [tools.page(source.page_id) for source in own.loaded if source.page_id]
    known = [url for page in pages for url in (*find_urls(page.text), page.url, page.final_url)]

    def clean(text: str) -> str:
        """A sentence without mentions of everybody, its addresses as a source spells them."""
        return _MASS_MENTION.sub("", _spell_addresses(" ".join(text.split()), known))

    def find_contacts(reply: WritingReply) -> Iterator[str]:
        """What is wrong with each sentence that names a contact of no quote."""
        for n, said in enumerate(reply.answer, start=1):
            quotes = "\n".join(quote.quote for quote in said.quotes)
            if foreign := _find_foreign_contacts(said.text, quotes, known):
                yield f"Sentence {n} names a contact that its quotes do not give: {foreign[:200]}"

    judgement = ask_writer(
        tools,
        WRITING,
        passages,
        find_contacts,
        **own.shared_blanks(state),
        pictures=own.picture_count(state),
        task=settings.answer_prompt,
        parts=state.plan,
        passages=passages,
        most=settings.max_answer_chars,
    )
    if judgement.failure:
        return stay_silent(state, tools, trouble=judgement.failure)
    reply: WritingReply = judgement.value
    named = {said.text: _build_picture_facts(state, tools, said, judgement) for said in reply.answer}
    pictured = {text: found for text, found in named.items() if found}
    _, change, now, checked = draft_from_quotes(
        state,
        tools,
        judgement,
        passages,
        question=question,
        clean=clean,
        more_facts=[fact for found in pictured.values() for fact in found],
        by_code=pictured,
        rules_on_conflicts=False,
    )
    if checked.check_trouble:
        return stay_silent(state, tools, trouble=checked.check_trouble, **change)
    answer = finish_answer(now, checked, tools.step)
    supported = list(_keep_supported(now, answer.main_sentences or checked.sentences, pictured, known))
    text, fitted = _fit_length(supported, settings.max_answer_chars, words_for(question)["mark_disputed"])
    kept = {sentence.text for sentence in fitted}
    drafted = [clean(said.text) for said in reply.answer if said.text]
    change["left_out"] = [text for text in drafted if checked.repairs.get(text, text) not in kept]
    if not fitted:
        why = reply.open or "the sources do not answer it"
        if supported:
            why = "no sentence is short enough"
        elif drafted:
            count = format_count(len(drafted), "sentence was", "sentences were")
            why = f"{count} drafted, and their quotes do not support what they say"
        why = f"Nothing could be said: {why.rstrip('.')}."
        return stay_silent(state, tools, why, "not_covered", **change)
    posted = limit_answer(now, answer, fitted)
    if answer.verdict == "no_evidence":
        missing = "No source supports it: it rests on a picture alone."
        posted = posted.replace(missing=missing, reason="none", remark="")
    if unfitted := len(supported) - len(fitted):
        too_long = f"{format_count(unfitted, 'supported sentence')} did not fit the length."
        posted = posted.replace(missing=f"{posted.missing} {too_long}".strip())
    if unchecked := sum(not sentence.backed for sentence in fitted):
        told = f"{unchecked} of {len(fitted)} statements rest on a picture alone, which nothing can check."
        posted = posted.replace(certainty=f"{posted.certainty} {told}")
    change = {**record_answer(posted, change), "draft": text}
    if settings.enable_verification:
        return change, "verify"
    return {**change, "should_reply": True, "reply_text": complete_text(state, posted, text)}, "replied"


def verify(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Check whether the draft may be posted."""
    judgement = tools.judge(
        VERIFICATION,
        **state.own.shared_blanks(state),
        pictures=state.own.picture_count(state),
        task=state.settings.reply.verification_prompt,
        draft=state.own.draft,
        passages=select_passages(state, tools),
    )
    if judgement.failure:
        return stay_silent(state, tools, trouble=judgement.failure)
    reply = judgement.value
    result = VerificationResult(verification=reply.verification, reasoning=reply.reasoning, by=judgement.by)
    if not result.verification or state.answer is None:
        why = f"The draft was rejected: {result.reasoning or 'no reason was given'}"
        return stay_silent(state, tools, why, verification=result)
    text = complete_text(state, state.answer, state.own.draft)
    return {"verification": result, "should_reply": True, "reply_text": text}, "replied"


def stay_silent(
    state: ReplyRun,
    tools: RunContext,
    why: str = "",
    reason: Reason = "silent",
    *,
    trouble: str = "",
    **more: object,
) -> tuple[Change, str]:
    """End without a reply, and keep the reason: `why`, else that a step failed with this `trouble`."""
    why = why or f"A step failed: {trouble}"
    answer = no_answer(state, tools.step, reason, f"Nothing is said. {why}")
    return {**more, "silence": why, "trouble": trouble, "answers": [answer]}, "silent"


def select_passages(state: ReplyRun, tools: RunContext) -> list[Passage]:
    """The passages of the loaded sources that fit a prompt, best first (agent.retrieval.scorer)."""
    question = state.own.search_texts(state)[-1]
    page_ids = [source.page_id for source in state.own.loaded if source.page_id]
    selected: list[Passage] = []
    room = MAX_SOURCE_CHARS
    for rest, page_id in zip(range(len(page_ids) - 1, -1, -1), page_ids, strict=True):
        share = max(MIN_CHARS_PER_SOURCE, room - MIN_CHARS_PER_SOURCE * rest)
        page = tools.page(page_id)
        passages = content_passages(page, page_id)
        if sum(len(passage.text) for passage in passages) > share:  # the question's best, in page order
            fitting = list[Passage]()
            for passage in rank_passages(question, passages, len(passages)):
                if len(passage.text) <= share:
                    fitting.append(passage)
                    share -= len(passage.text)
            passages = sorted(fitting, key=lambda passage: passage.start)
        room -= sum(len(passage.text) for passage in passages)
        selected += passages
    counts = tools.library.count_terms(question)
    return CountedPassages(rank_passages(question, selected, len(selected), counts), counts)


def complete_text(state: ReplyRun, answer: Answer, draft: str) -> str:
    """The text that is posted: the draft, the documents it cites, the addresses of the loaded sources."""
    cited = [source.page_id for source in answer.sources]
    loaded = [source for source in state.own.loaded if source.page_id]
    loaded.sort(key=lambda source: source.page_id not in cited)
    pages = dict.fromkeys(source.url for source in loaded if canonicalize(source.url))
    documents = dict.fromkeys(
        source.title or source.source_id
        for source in loaded
        if not canonicalize(source.url) and source.page_id in cited
    )
    for label, names in (("Sources", documents), ("Links", pages)):
        draft += f"\n\n{label}:\n" + "\n".join(f"- {name}" for name in names) if names else ""
    return draft


def _build_picture_facts(
    state: ReplyRun, tools: RunContext, sentence: WritingSentence, judgement: RoleResult
) -> list[Fact]:
    """The facts of the pictures that a sentence names; they are never verified."""
    own = state.own
    return [
        Fact(
            id=f"picture{n}",
            statement=sentence.text.strip(),
            quote="",
            url=own.pictures[n - 1].url,
            title=f"Picture {n}",
            sha256=own.pictures[n - 1].sha256,
            origin="image",
            step=tools.step,
            by=judgement.by,
        )
        for n in dict.fromkeys(sentence.pictures)
        if 1 <= n <= own.picture_count(state)
    ]


def _find_foreign_contacts(text: str, quotes: str, known: Sequence[str]) -> str:
    """The text as it would be without the contacts that the quotes do not give; "" when it has none."""
    given = set(_CALL.findall(quotes.casefold()))
    others = [found for found in _CALL.findall(text) if found.casefold() not in given]
    cleaned = remove_unfounded_contacts(text, known, quotes)
    return cleaned if cleaned != _spell_addresses(text, known) else ", ".join(others)


def _spell_addresses(text: str, known: Sequence[str]) -> str:
    """The text with the known addresses as they were found."""
    return remove_unknown_urls(text, [*find_urls(text), *known])


def _keep_supported(
    state: ReplyRun,
    sentences: Sequence[Sentence],
    pictured: Mapping[str, Sequence[Fact]],
    known: Sequence[str],
) -> Iterator[Sentence]:
    """The backed sentences, and those that name a picture that was sent, which nothing can check; none with a
    figure, name or contact that stands in no source."""
    for said in sentences:
        if not said.backed:
            seen = [fact.id for fact in pictured.get(said.text, [])]
            said = said.replace(fact_ids=seen, check="not_checked", findings=[], check_reason="")
        quotes = "\n".join(state.facts[i].quote for i in said.fact_ids if state.facts[i].verified)
        is_absent = any(finding.is_absent for finding in said.findings)
        if said.fact_ids and not is_absent and not _find_foreign_contacts(said.text, quotes, known):
            yield said


def _fit_length(sentences: Sequence[Sentence], limit: int, disputed: str) -> tuple[str, list[Sentence]]:
    """The first sentences that fit as a text, contradicted ones marked `disputed`; and these sentences."""
    text, fitted = "", list[Sentence]()
    for sentence in sentences:
        joint = "" if not fitted else "\n" if LIST_MARK.match(sentence.text) else " "
        said = f"{joint}{sentence.text}" + (f" ({disputed})" if sentence.disputed else "")
        if len(text) + len(said) > limit:
            break
        text, fitted = text + said, [*fitted, sentence]
    return text, fitted
