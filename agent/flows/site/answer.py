"""From what was read to the answer a person reviews, or to a refusal in the words of its kind."""

from __future__ import annotations

from agent.answering import fact_view
from agent.answering.draft import answer_from_quotes, draft_from_reply
from agent.answering.passages import show_passages
from agent.answering.verdict import WORDED_BY_MODEL, describe_failures, finish_answer, record_answer
from agent.answering.write_report import ask_report
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.site import pages as reading
from agent.flows.site.state import SiteRun
from agent.roles.site import DRAFT, DraftReply
from agent.text.plurals import format_count
from agent.text.urls import host
from agent.types import Answer, Outcome

REFUSAL_MESSAGES = {
    "off_topic": (
        "I can only answer from the pages of {site}, and this question does not seem to be about them."
    ),
    "not_covered": "The pages of {site} that were read do not answer this, so I would rather not guess.",
    "needs_clarification": "Could you say a little more about what you mean?",
}


def write_answer(state: SiteRun, tools: RunContext) -> Change:
    """The change of an answer from what was read, or of a refusal: its facts and conflicts."""
    own = state.own
    found = reading.search_site(state, tools, notes=fact_view.note_texts(state))
    passages = reading.choose_passages(state, tools, found, own.chosen, reading.DRAFT_CHARS)
    blanks = {
        "question": state.question,
        "asked": state.asked or state.question,
        "parts": state.plan,
        "history": state.history,
        "instruction": state.settings.instruction,
        "notes": [note.text for note in state.notes],
        "reasoning": own.decision_reasoning,
        "passages": passages,
        "site": ", ".join(dict.fromkeys(host(url) for url in state.settings.start_urls)),
        "forced": own.forced,
        "former": state.answer.text if state.answer else "",
    }
    draft, answer = answer_from_quotes(
        state,
        tools,
        DRAFT,
        passages,
        blanks,
        question=" ".join([state.full_question, *fact_view.note_texts(state, public=True)]),
        caveat=own.forced,
        journey=_describe_journey(state, tools),
    )
    reply: DraftReply = draft.judgement.value
    return _record(state, _explain_refusal(state, answer, reply.refusal, reply.message), draft.change)


def show_found(state: SiteRun, tools: RunContext) -> Change:
    """The change of an answer without a model: the passages that fit best."""
    found = reading.search_site(state, tools, notes=fact_view.note_texts(state, public=True))
    journey = _describe_journey(state, tools)
    change, answer = show_passages(state, tools, found, caveat=state.own.forced, journey=journey)
    return _record(state, _explain_refusal(state, answer), change)


def _record(state: SiteRun, answer: Answer, change: Change) -> Change:
    """The change of an answer, whose pages are useful ones."""
    cited, useful = {source.page_id for source in answer.sources}, state.own.useful_visited_indices
    content = state.own.url_content(state)
    more = sorted(i for i, page_id in content.items() if page_id in cited and i not in useful)
    return {**record_answer(answer, change), "useful_visited_indices": [*useful, *more]}


def _explain_refusal(state: SiteRun, answer: Answer, kind: str = "none", message: str = "") -> Answer:
    """The answer; one without evidence with its reason, in the words of the model that refused."""
    if answer.verdict != "no_evidence" or not state.pages:
        return answer
    if not state.own.url_content(state):
        text = f"No answer is given. No page could be read: {describe_failures(list(state.pages.values()))}"
        return answer.replace(reason="blocked", certainty=text)
    if answer.reason == "blocked" or (answer.reason == "unsupported" and kind == "none"):
        return answer
    kind = kind if kind != "none" else "not_covered"
    read = (host(ref.final_url) for ref in state.pages.values() if ref.outcome is Outcome.OK)
    site = ", ".join(dict.fromkeys(read)) or "this site"
    worded = fact_view.clean_message(state, message, state.own.all_discovered_urls)
    text = worded or REFUSAL_MESSAGES[kind].format(site=site)
    remark = " ".join(filter(None, [WORDED_BY_MODEL if worded else "", answer.remark]))
    told = " ".join(filter(None, [text, answer.missing, state.own.forced]))
    return answer.replace(reason=kind, certainty=told, remark=remark)


def rewrite_answer(state: SiteRun, tools: RunContext) -> Change:
    """The change of the answer written again from the accepted facts, after a person's edits."""
    if not tools.has_model or tools.find_spent_budget():
        usable = fact_view.facts_for_answer(state)
        change, answer = show_passages(state, tools, facts=usable, question=state.asked)
        return record_answer(answer, change)
    notes = fact_view.list_instructions(state)
    judgement = ask_report(state, tools, question=state.asked, notes=notes)
    written = draft_from_reply(state, tools, judgement, question=state.asked)
    return record_answer(finish_answer(state, written, tools.step))


def _describe_journey(state: SiteRun, tools: RunContext) -> str:
    """How the answer was reached: pages read, known, listed and failed, and when stored ones were fetched."""
    refs = [state.pages.get(state.own.all_discovered_urls[i]) for i in state.own.fetched]
    read = [ref for ref in refs if ref and ref.page_id]
    reused = [i for i in state.own.reused if i not in state.own.fetched]
    recalled = len(state.own.url_content(state)) - len(read) - len(reused)
    failed = sum(1 for ref in state.pages.values() if ref.outcome is not Outcome.OK)
    listed = sum(sitemap.addresses for sitemap in state.own.sitemaps.values())
    batches = format_count(len({ref.step for ref in read}), "batch", "batches")
    urls = [state.own.all_discovered_urls[i] for i in reused]
    days = sorted({held.fetched_at[:10] for held in tools.store.pages.find_fetched(urls).values()})
    when = f", fetched on {' to '.join(dict.fromkeys([days[0], days[-1]]))}" if days else ""
    parts = [
        f"{format_count(len(read) + len(reused), 'page')} read, {len(reused)} of them from the library{when}"
        if reused
        else f"{format_count(len(read), 'page')} read in {batches}",
        f"{recalled} known from the conversation" if recalled > 0 else "",
        f"{listed} addresses listed by the site's map" if listed else "",
        f"{failed} could not be read" if failed else "",
    ]
    return f"{'; '.join(filter(None, parts))}."
