"""From a draft to the answer a person reads: quotes checked and made facts, citations counted, refusals told politely.

The verdict is code's, by the rules of every flow; the writer only says what kind of refusal it meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.evidence import confidence
from agent.flows import moves
from agent.flows import site_reading as reading
from agent.flows.quoting import cited
from agent.flows.rewriting import corrected
from agent.flows.site_state import Site
from agent.flows.verdict import answer as verdict_on
from agent.flows.verdict import failures
from agent.roles.draft import DraftReply
from agent.roles.report import ReportReply
from agent.roles.role import Judgement
from agent.state import Change, fork, jsonable, merge
from agent.text.brevity import wish
from agent.text.coverage import cover
from agent.toolbox import Tools
from agent.types import Answer, Outcome, Passage, Speaker

POLITE = {
    "off_topic": "I can only answer from the pages of {site}, and this question does not seem to be about them.",
    "not_covered": "The pages of {site} that were read do not answer this, so I would rather not guess.",
    "needs_clarification": "Could you say a little more about what you mean?",
}


def answer_of(state: Site, tools: Tools, judgement: Judgement, passages: Sequence[Passage]) -> Change:
    """The change a draft makes: the facts it quotes, conflicts, confidence, and the answer."""
    reply: DraftReply = judgement.value
    facts, sentences = cited(reading.wanted(state), tools, reply.answer, passages, by=judgement.by, here=state.trusts)
    facts = {fact.id: fact for fact in moves.heeding(state, list(facts.values())) if fact.id not in state.facts}
    sentences = [sentence.model_copy(update={"text": corrected(sentence.text, sentence.fact_ids, state.facts)}) for sentence in sentences]
    marked = reading.clashes(state, [*moves.memory(state), *facts.values()])
    facts |= {fact.id: fact for fact in marked.pop("facts", [])}
    change: Change = {**marked, "facts": list(facts.values())}
    now = merge(fork(state), jsonable(change))
    level = confidence.assess(
        step=tools.step, facts=moves.memory(now), conflicts=now.conflicts.values(), coverage=cover(reading.wanted(state), moves.memory(now)).share,
        previous=state.confidence[-1] if state.confidence else None, model=reply.confidence if judgement.by == "model" else None,
    )  # fmt: skip
    merge(now, jsonable({"confidence": [level]}))
    refused = reply.refusal != "none"
    written = ReportReply(
        answer=[] if refused else sentences, certainty="" if refused else _certainty(now), missing=reply.missing, journey=_journey(state),
    )  # fmt: skip
    answer = _worded(state, verdict_on(now, judgement.model_copy(update={"value": written}), tools.step), reply)
    answer = answer.model_copy(update={"remark": _instructed(state.settings.instruction, judgement.by)})
    bearing = max([reply.confidence] if judgement.by == "keyless" else state.bearings.values(), default=0.0)
    useful = {i for i, page_id in state.url_content.items() if any(source.page_id == page_id for source in answer.sources)}
    named = [*state.useful_visited_indices, *sorted(useful - set(state.useful_visited_indices))]
    return {**change, "confidence": [level], "answers": [answer], "bearing": bearing, "useful_visited_indices": named}


def _instructed(instruction: str, by: Speaker) -> str:
    """What became of a person's instruction, when no model read it; "" when there was none, or a model did."""
    asked = wish(instruction)
    if by == "model" or not instruction.strip():
        return ""
    kept = "Kept short, as instructed. " if asked.sentences else ""
    left = "The rest of the instruction" if asked.sentences else "The instruction"
    more = f"{left} was not followed in the answer: that needs a model. Its words only helped to choose which pages to read." if asked.more else ""
    return (kept + more).strip()


def _worded(state: Site, answer: Answer, reply: DraftReply) -> Answer:
    """A refusal gets its kind and its polite words; an answer without one backed statement becomes one."""
    if answer.verdict == "no_evidence" and state.pages and not state.url_content:
        said = f"No answer is given. No page could be read: {failures(list(state.pages.values()))}"
        return answer.model_copy(update={"reason": "blocked", "certainty": said, "missing": ""})
    if answer.verdict != "no_evidence" or answer.reason == "blocked" or not state.url_content:
        return answer
    kind = reply.refusal if reply.refusal != "none" else "not_covered"
    site = ", ".join(dict.fromkeys(ref.final_url.split("/")[2] for ref in state.pages.values() if ref.outcome is Outcome.OK)) or "this site"
    said = " ".join(part for part in (reply.message or POLITE[kind].format(site=site), _forced(state)) if part)
    return answer.model_copy(update={"reason": kind, "certainty": said})


def _forced(state: Site) -> str:
    return state.choices[-1].forced if state.choices else ""


def _certainty(state: Site) -> str:
    level = state.level
    told = "High" if level >= 0.85 else "Moderate" if level >= 0.6 else "Low"
    return " ".join(part for part in (f"{told} ({level:.0%}).", _forced(state)) if part)


def _journey(state: Site) -> str:
    read = [ref for i in state.fetched if (ref := state.pages.get(state.all_discovered_urls[i])) and ref.page_id]
    kept = len(state.url_content) - len(read)
    failed = sum(1 for ref in state.pages.values() if ref.outcome is not Outcome.OK)
    listed = sum(sitemap.addresses for sitemap in state.sitemaps.values())
    batches = len({ref.step for ref in read})
    told = [f"{len(read)} {'page' if len(read) == 1 else 'pages'} read in {batches} {'batch' if batches == 1 else 'batches'}"]
    told += [f"{kept} known from the conversation"] if kept > 0 else []
    told += [f"{listed} addresses listed by the site's map"] if listed else []
    told += [f"{failed} could not be read"] if failed else []
    return "; ".join(told) + "." + (f" {state.decision_reasoning}" if state.decision_reasoning else "")
