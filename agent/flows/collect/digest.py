"""The digest of what was kept: its quotes become facts, and an empty one says why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from agent.answering.draft import answer_from_quotes
from agent.answering.verdict import describe_failures, no_answer, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.collect.frontier import list_instructions
from agent.flows.collect.items import fit_item, split_item
from agent.flows.collect.state import CollectRun
from agent.roles.collect import DIGEST, DigestItem, DigestReply
from agent.text.plurals import format_count
from agent.types import Answer, ClaimFinding, Outcome, Passage

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
    intent, notes = own.intent, list[str]()
    if any(item.writers for item in items):
        notes.append("What people post is their opinion, reported in their own words.")
    kinds = ["article" if item.kind == "article" else "thread" for item in own.kept_items]
    counts = [format_count(kinds.count(kind), kind) for kind in ("article", "thread") if kind in kinds]
    failed = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    journey = f"{' and '.join(counts)} gathered" if counts else "Nothing was gathered"
    journey += f"; {format_count(len(failed), 'page')} could not be read." if failed else "."
    journey += f" It stopped because: {state.why_stopped}." if state.why_stopped else ""
    if not tools.has_model:
        answer = no_answer(state, tools.step, "blocked", "", journey=journey)
        if own.kept_items:
            answer = answer.replace(verdict="passages_found", reason="none", certainty=NEEDS_MODEL)
        else:
            answer = _explain_empty_digest(state, answer, [])
        return record_answer(answer, {})
    blanks = {
        "prompt": state.question,
        "notes": list_instructions(state),
        "intent": intent,
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
        caveat=" ".join(notes),
        journey=journey,
        find_more=lambda reply: find_wrong_writers(reply, items),
    )
    # The answer in which a sentence that names another writer than its posts have shows that
    posts = [(passage, item) for item in items for passage in item.passages if passage.id in item.writers]
    writers = {(passage.page_id, passage.heading): item.writers[passage.id] for passage, item in posts}
    marked = []
    for said in answer.sentences:
        cited = [draft.state.facts[i] for i in said.fact_ids if i in draft.state.facts]
        quoted = {writers[place] for fact in cited if (place := (fact.page_id, fact.heading)) in writers}
        if named := _list_others(said.text, [fact.quote for fact in cited], quoted, writers.values()):
            found = ClaimFinding(kind="name", claimed=named, quoted=", ".join(sorted(quoted)), is_absent=True)
            said = said.replace(findings=[*said.findings, found])
        marked.append(said)
    answer = answer.replace(sentences=marked)
    if answer.verdict == "no_evidence":
        answer = _explain_empty_digest(draft.state, answer, notes)
    return record_answer(answer, draft.change)


def find_wrong_writers(reply: DigestReply, items: Sequence[DigestItem]) -> Iterator[str]:
    """The sentences that name who wrote another post than those they quote."""
    writers = {name: who for item in items for name, who in item.writers.items()}
    for n, said in enumerate(reply.answer, start=1):
        quoted = {writers[quote.passage_id] for quote in said.quotes if quote.passage_id in writers}
        quotes = [quote.quote for quote in said.quotes]
        if named := _list_others(said.text, quotes, quoted, writers.values()):
            yield (
                f"Sentence {n} names {named}, and what it quotes was written by {', '.join(sorted(quoted))}: "
                "name who wrote it, or quote the other post too."
            )


def _list_others(text: str, quotes: Iterable[str], quoted: Set[str], writers: Iterable[str]) -> str:
    """The writers that a text on posts of the `quoted` ones names, and that these posts do not."""
    words, posts = text.casefold(), "\n".join(quotes).casefold()
    others = dict.fromkeys(who for who in writers if quoted and who not in quoted)
    return ", ".join(who for who in others if who.casefold() in words and who.casefold() not in posts)


def _explain_empty_digest(state: CollectRun, answer: Answer, notes: Sequence[str]) -> Answer:
    """An empty digest with its reason: blocked pages, a limit, or nothing relevant. The last names what lies
    outside the time that was asked for."""
    own, pages = state.own, state.pages.values()
    failed = [page for page in pages if page.outcome is not Outcome.OK]
    read = [node for node in own.tree.values() if node.page_id]
    is_blocked = any(page.outcome is not Outcome.EMPTY for page in failed)
    only_lists = all(node.action in ("EXTRACT_LINKS", "NAVIGATE_TO") and not node.held for node in read)
    timely = sum(own.intent.covers(item.last_date) for item in own.items.values())
    days = [node.detected_date for node in own.tree.values() if node.status == "dropped"]
    days += [item.last_date for item in own.items.values() if item.status == "dropped"]
    outside = sorted(day[:10] for day in days if not own.intent.covers(day))
    if is_blocked and not own.items and only_lists:
        lists = "Only lists and sections could be read, and no page behind them"
        met = lists if read else "No page could be read"
        reason, why = "blocked", f"{met}: {describe_failures(failed)}"
    elif not own.items and state.stop_reason in ("budget", "limit"):
        reason, why = "budget", f"Nothing was gathered: {state.why_stopped}."
    elif own.kept_items:
        told = "gathered, but their words back no sentence of a digest: read them below."
        reason, why = "not_covered", f"{len(own.kept_items)} {told}"
    else:
        gathered = format_count(timely, "was gathered", "were gathered")
        why = f"{gathered}, and none is relevant" if timely else "No article or thread was found"
        unread = f"; {len(failed)} could not be read" if failed else ""
        why += f" on the {format_count(state.pages_read_count, 'page')} read{unread}."
        reason = "not_covered"
    if reason == "not_covered" and outside:
        count = format_count(len(outside), "entry", "entries")
        why += f" Outside the time asked for: {count}, the newest of {outside[-1]}."
        why += " Send it back with another time."
    return answer.replace(reason=reason, certainty=" ".join([f"No digest is given. {why}", *notes]))


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
