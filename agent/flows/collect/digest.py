"""The digest of what was kept: its quotes become facts; an empty one says what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.answering.draft import answer_from_quotes
from agent.answering.fact_view import list_instructions
from agent.answering.verdict import describe_failures, explain_no_evidence, no_answer, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.collect.items import fit_item, split_item
from agent.flows.collect.state import CollectRun
from agent.roles.collect import DIGEST, DigestItem, DigestReply
from agent.text.plurals import format_count
from agent.types import Answer, Outcome, PageRef, Passage

WINDOW_CHARS = 5_000
"""Characters of one item: an article of 800 words or a thread of a dozen posts is shown whole."""
NEEDS_MODEL = (
    "What was found is listed as the pages' structure shows it. To judge what is wanted, and to write a "
    "digest, needs a model."
)
MAX_CHARS = 60_000
"""Characters of all items, about 15,000 tokens: half of what a small model can read at once."""


def write_digest(state: CollectRun, tools: RunContext) -> Change:
    """The change of the digest: the facts it quotes, conflicts, confidence, and the answer."""
    items, own = _list_items(state, tools), state.own
    caveat = "What people post is their opinion, reported in their own words."
    caveat = caveat if any(item.writers for item in items) else ""
    kinds = ["article" if item.kind == "article" else "thread" for item in own.kept_items]
    counts = [format_count(kinds.count(kind), kind) for kind in ("article", "thread") if kind in kinds]
    failed = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    journey = f"{' and '.join(counts)} gathered" if counts else "Nothing was gathered"
    journey += f"; {format_count(len(failed), 'page')} could not be read." if failed else "."
    journey += f" It stopped because: {state.why_stopped}." if state.why_stopped else ""
    if not tools.has_model:
        answer = no_answer(state, tools.step, "none", NEEDS_MODEL, journey=journey)
        if own.kept_items:
            return record_answer(answer.replace(verdict="passages_found"))
        return record_answer(_add_left_out(state, answer.replace(**explain_no_evidence(state)), failed))
    blanks = {
        "prompt": state.question,
        "notes": list_instructions(state),
        "intent": own.intent,
        "items": items,
        "failures": failed,
        "former": state.answer,
    }
    draft, answer = answer_from_quotes(
        state,
        tools,
        DIGEST,
        [passage for item in items for passage in item.passages],
        blanks,
        question=state.question,
        weighed_by=own.relevance_question(state),
        caveat=caveat,
        journey=journey,
        find_more=lambda reply: find_wrong_writers(reply, items),
    )
    if answer.verdict == "no_evidence":
        answer = _add_left_out(draft.state, answer, failed)
    return record_answer(answer, draft.change)


def find_wrong_writers(reply: DigestReply, items: Sequence[DigestItem]) -> Iterator[str]:
    """The sentences that name who wrote another post than those they quote, unless these name them."""
    writers = {name: who for item in items for name, who in item.writers.items()}
    for n, said in enumerate(reply.answer, start=1):
        quoted = {writers[quote.passage_id] for quote in said.quotes if quote.passage_id in writers}
        words, posts = said.text.casefold(), "\n".join(quote.quote for quote in said.quotes).casefold()
        others = (who for who in dict.fromkeys(writers.values()) if quoted and who not in quoted)
        if named := [who for who in others if who.casefold() in words and who.casefold() not in posts]:
            yield (
                f"Sentence {n} names {', '.join(named)}, and what it quotes was written by "
                f"{', '.join(sorted(quoted))}: name who wrote it, or quote the other post too."
            )


def _add_left_out(state: CollectRun, answer: Answer, failed: list[PageRef]) -> Answer:
    """An empty digest with the pages that could not be read, and what lies outside the time asked for."""
    own, told, reason = state.own, [answer.certainty], answer.reason
    days = [node.detected_date for node in own.tree.values() if node.status == "dropped"]
    days += [item.last_date for item in own.items.values() if item.status == "dropped"]
    was_refused = any(page.outcome is not Outcome.EMPTY for page in failed)
    if was_refused and len(failed) == len(state.pages):
        reason, told = "blocked", [f"No answer is given. No page could be read: {describe_failures(failed)}"]
    elif failed:
        told.append(f"Not read: {describe_failures(failed)}")
    if outside := sorted(day[:10] for day in days if not own.intent.covers(day)):
        count = format_count(len(outside), "entry", "entries")
        told.append(f"Outside the time asked for: {count}, the newest of {outside[-1]}.")
        told.append("Send it back with another time.")
    return answer.replace(reason=reason, certainty=" ".join(told))


def _list_items(state: CollectRun, tools: RunContext) -> list[DigestItem]:
    """The kept items with passages that can be quoted, each with those that its writer is shown."""
    kept, topic = state.own.timely_items, state.own.intent.topic
    room = min(WINDOW_CHARS, MAX_CHARS // max(1, len(kept)))
    shown, passages_of = [], dict[str, list[Passage]]()
    for item in kept:
        every, writers = split_item(item, tools, passages_of)
        if passages := fit_item(topic, every, room):
            shown.append(
                DigestItem(
                    title=item.title,
                    kind=item.kind,
                    url=item.url,
                    date=item.last_date[:10],
                    passages=[passage.replace(title=item.title) for passage in passages],
                    writers=writers,
                    left_out=len(every) - len(passages) + sum(post.start < 0 for post in item.posts),
                )
            )
    return shown
