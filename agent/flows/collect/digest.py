"""The digest of what was kept: its quotes become facts, and an empty one says why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.answering.draft import answer_from_quotes
from agent.answering.verdict import describe_failures, no_answer, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.collect.frontier import list_instructions
from agent.flows.collect.items import fit_item, split_item
from agent.flows.collect.state import CollectRun
from agent.roles.collect import DIGEST, DigestItem, DigestReply
from agent.text.plurals import format_count
from agent.types import Answer, Outcome, Passage
from agent.types.answers import Reason

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
        return record_answer(_explain_empty_digest(state, answer, ""))
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
        answer = _explain_empty_digest(draft.state, answer, caveat)
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


def _explain_empty_digest(state: CollectRun, answer: Answer, caveat: str) -> Answer:
    """An empty digest with its reason: blocked pages, a limit, or nothing relevant. The last names what lies
    outside the time that was asked for."""
    own, items = state.own, state.own.items.values()
    failed = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    read = [node for node in own.tree.values() if node.page_id]
    is_blocked = any(page.outcome is not Outcome.EMPTY for page in failed)
    only_lists = all(node.action in ("EXTRACT_LINKS", "NAVIGATE_TO") and not node.held for node in read)
    days = [node.detected_date for node in own.tree.values() if node.status == "dropped"]
    days += [item.last_date for item in items if item.status == "dropped"]
    outside = sorted(day[:10] for day in days if not own.intent.covers(day))
    reason: Reason = "not_covered"
    if is_blocked and not items and only_lists:
        met = (
            "Only lists and sections could be read, and no page behind them"
            if read
            else "No page could be read"
        )
        reason, why = "blocked", f"{met}: {describe_failures(failed)}"
    elif not items and state.stop_reason in ("budget", "limit"):
        reason, why = "budget", f"Nothing was gathered: {state.why_stopped}."
    elif own.kept_items:
        told = "gathered, but their words back no sentence of a digest: read them below."
        why = f"{len(own.kept_items)} {told}"
    else:
        timely = sum(own.intent.covers(item.last_date) for item in items)
        gathered = format_count(timely, "was gathered", "were gathered")
        why = f"{gathered}, and none is relevant" if timely else "No article or thread was found"
        unread = f"; {len(failed)} could not be read" if failed else ""
        why += f" on the {format_count(state.pages_read_count, 'page')} read{unread}."
    if reason == "not_covered" and outside:
        count = format_count(len(outside), "entry", "entries")
        why += f" Outside the time asked for: {count}, the newest of {outside[-1]}."
        why += " Send it back with another time."
    return answer.replace(reason=reason, certainty=f"No digest is given. {why} {caveat}".strip())


def _list_items(state: CollectRun, tools: RunContext) -> list[DigestItem]:
    """The kept items, each with the passages of it that its writer is shown; items without a word that can be
    quoted are left out."""
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
