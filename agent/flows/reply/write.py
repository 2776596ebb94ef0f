"""The last steps of `reply`, from chosen sources to the text that is posted, or to silence.

A sentence is kept when verbatim quotes support it, or when it names a picture that was sent. Code enforces
the length, by whole sentences: half a sentence may state the opposite.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agent.answering.draft import ask_writer, draft_from_quotes
from agent.answering.pages import content_passages, fit_passages
from agent.answering.verdict import finish_answer, limit_answer, no_answer, read_role, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import confidence
from agent.evidence.report_words import words_for
from agent.evidence.support import describe_mark
from agent.flows.reply.state import ReplyRun
from agent.retrieval.scorer import CountedPassages, rank_passages
from agent.roles.reply import VERIFICATION, WRITING, WritingReply, WritingSentence
from agent.roles.role import RoleResult
from agent.text.identifiers import find_contacts, is_external_contact, remove_mass_mentions
from agent.text.plurals import format_count
from agent.text.urls import canonicalize, find_urls, remove_unknown_urls, site
from agent.types import Answer, AnswerBlock, Fact, Page, Passage, Reason, Sentence
from agent.types.reply import VerificationResult

MAX_SOURCE_CHARS = 60_000
"""Characters of source text in one prompt; of longer sources the most relevant passages."""
MIN_CHARS_PER_SOURCE = 8_000
_BEFORE_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:/{0,2})?(?:[^@/]*@)?", re.IGNORECASE)
"""The part of an address or mailbox before its host."""
_LIST_ITEM = re.compile(r"\s*(?:[-*•]|\d+[.)])\s")


def write(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Write a draft from the loaded texts, of which what is supported may be posted.

    Each sentence is checked against its quotes; one that fails is repaired once by its writer, else left
    out."""
    settings, question = state.settings.reply, state.own.standalone_question(state)
    passages = select_passages(state, tools)
    judgement = ask_writer(
        tools,
        WRITING,
        passages,
        **state.own.shared_blanks(state),
        pictures=state.own.picture_count(state),
        task=settings.answer_prompt,
        asked=question,
        passages=passages,
        most=settings.max_answer_chars,
    )
    if judgement.fallback_reason:
        return stay_silent(state, tools, trouble=judgement.fallback_reason)
    reply: WritingReply = judgement.value
    pages = [tools.page(source.page_id) for source in state.own.loaded if source.page_id]
    cleaned = [s.model_copy(update={"text": _remove_unsafe_contacts(s.text, pages)}) for s in reply.answer]
    written = [sentence for sentence in cleaned if sentence.text]
    named = {s.text: _build_picture_facts(state, tools, s, judgement) for s in written}
    pictured = {text: found for text, found in named.items() if found}
    _, change, now, checked = draft_from_quotes(
        state,
        tools,
        judgement.replace(value=reply.model_copy(update={"answer": written})),
        passages,
        question=question,
        clean=lambda text: _remove_unsafe_contacts(text, pages),
        more_facts=[fact for found in pictured.values() for fact in found],
        by_code=pictured,
        rules_on_conflicts=False,
    )
    if checked.check_trouble:
        return stay_silent(state, tools, trouble=checked.check_trouble, **change)
    answer = finish_answer(now, checked, tools.step)
    supported = _keep_supported(answer.main_sentences or checked.sentences, pictured)
    text, fitted = _fit_length(supported, settings.max_answer_chars, words_for(question), answer.blocks)
    kept = {sentence.text for sentence in fitted}
    change["left_out"] = [
        old.text
        for old, new in zip(reply.answer, cleaned, strict=True)
        if checked.repairs.get(new.text, new.text) not in kept
    ]
    if not fitted:
        why = reply.missing or "the sources do not answer it"
        if supported:
            why = "no sentence is short enough"
        elif written:
            count = format_count(len(written), "sentence was", "sentences were")
            why = f"{count} drafted, and their quotes do not support what they say"
        elif reply.answer:
            why = "what was drafted sends people to a contact that no source gives"
        said = f"Nothing could be said: {why.rstrip('.')}."
        return stay_silent(state, tools, said, "not_covered", **change)
    posted = limit_answer(now, answer, fitted)
    if answer.verdict == "no_evidence":
        missing = "No source supports it: it rests on a picture alone."
        posted = posted.replace(missing=missing, reason="none", remark="")
    if unfitted := len(supported) - len(fitted):
        too_long = f"{format_count(unfitted, 'supported sentence')} did not fit the length."
        posted = posted.replace(missing=f"{posted.missing} {too_long}".strip())
    certainty = f"{confidence.describe_level(posted.confidence, is_judged=posted.by == 'model')}."
    if unchecked := sum(not sentence.backed for sentence in fitted):
        certainty += (
            f" {unchecked} of {len(fitted)} statements rest on a picture alone, which nothing can check."
        )
    posted = posted.replace(certainty=certainty)
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
    if judgement.fallback_reason:
        return stay_silent(state, tools, trouble=judgement.fallback_reason)
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
    """End without a reply, and keep the reason: `why`, or that a step failed with this `trouble`."""
    why = f"A step failed: {trouble}" if trouble else why
    answer = no_answer(state, tools.step, reason, f"Nothing is said. {why}")
    return {**more, "silence": why, "trouble": trouble, "answers": [answer]}, "silent"


def select_passages(state: ReplyRun, tools: RunContext) -> list[Passage]:
    """The passages of the loaded sources that fit a prompt, best first (agent.retrieval.scorer)."""
    question = state.own.standalone_question(state)
    page_ids = [source.page_id for source in state.own.loaded if source.page_id]
    selected: list[Passage] = []
    room = MAX_SOURCE_CHARS
    for rest, page_id in zip(range(len(page_ids) - 1, -1, -1), page_ids, strict=True):
        share = max(MIN_CHARS_PER_SOURCE, room - MIN_CHARS_PER_SOURCE * rest)
        page = tools.page(page_id)
        passages = fit_passages(question, content_passages(page, page_id), share)
        room -= sum(len(passage.text) for passage in passages)
        selected += passages
    counts = tools.library.count_terms(question)
    return CountedPassages(rank_passages(question, selected, len(selected), counts), counts)


def complete_text(state: ReplyRun, answer: Answer, draft: str) -> str:
    """The text that is posted: the draft; without a model each part of the question that no passage answers,
    told so; then the web addresses of the loaded sources, cited ones first."""
    both = zip(answer.blocks, answer.blocks[1:], strict=False)
    gaps = [f"{head.text} {' '.join(gap.lines)}" for head, gap in both if gap.role == "gap"]
    draft = "\n\n".join([draft, *gaps])
    cited = [source.page_id for source in answer.sources]
    loaded = [source for source in state.own.loaded if source.page_id and canonicalize(source.url)]
    loaded.sort(key=lambda source: source.page_id not in cited)
    links = "\n".join(f"- {url}" for url in dict.fromkeys(source.url for source in loaded))
    return f"{draft}\n\nLinks:\n{links}" if links else draft


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


def _remove_unsafe_contacts(text: str, pages: Sequence[Page]) -> str:
    """The sentence on one line, its addresses as the sources spell them; "" when it names a contact that no
    source gives. A web page may give its own address and contacts of its own site."""

    def allows(page: Page, contact: str) -> bool:
        url = page.final_url or page.url
        if canonicalize(contact) and canonicalize(contact) == canonicalize(url):
            return True
        if contact.casefold() not in f"{page.title}\n{page.text}".casefold():
            return False
        is_document = not canonicalize(page.url)
        own_site = site(url) == site(f"https://{_BEFORE_HOST.sub('', contact)}")
        return is_document or own_site or not is_external_contact(contact)

    text = " ".join(text.split())
    if not all(any(allows(page, contact) for page in pages) for contact in find_contacts(text)):
        return ""
    if find_urls(text):
        text = remove_unknown_urls(
            text, [url for page in pages for url in (*find_urls(page.text), page.url, page.final_url)]
        )
    return remove_mass_mentions(text)


def _keep_supported(sentences: Sequence[Sentence], pictured: Mapping[str, Sequence[Fact]]) -> list[Sentence]:
    """The backed sentences, and those that name a picture that was sent, which nothing can check."""

    def read_picture(sentence: Sentence) -> Sentence:
        found = [fact.id for fact in pictured.get(sentence.text, [])]
        return sentence.replace(fact_ids=found, check="not_checked", findings=[], check_reason="")

    told = [s if s.backed else read_picture(s) for s in sentences]
    return [s for s in told if s.backed or s.fact_ids]


def _fit_length(
    sentences: Sequence[Sentence],
    limit: int,
    words: Mapping[str, str],
    blocks: Sequence[AnswerBlock] = (),
) -> tuple[str, list[Sentence]]:
    """The first sentences that fit as a text, each passage and list item on its own line, with the marks
    of what is in doubt; and these sentences."""
    text, fitted, joint, former = "", list[Sentence](), "", ""
    for sentence in sentences:
        role = read_role(blocks, sentence)
        if fitted and role == "passage":  # an item of a list
            joint = "\n- "
        elif fitted and (former == "passage" or role == "lead"):  # a new paragraph
            joint = "\n\n"
        elif fitted:
            joint = "\n" if _LIST_ITEM.match(sentence.text) else " "
        mark = describe_mark(sentence, words)
        said = f"{joint}{sentence.text}" + (f" ({mark})" if mark else "")
        if len(text) + len(said) > limit:
            break
        text, fitted, former = text + said, [*fitted, sentence], role
    return text, fitted
