"""The digest of what was kept: its quotes become facts, and an empty one says why."""

from __future__ import annotations

from agent.answering.draft import answer_from_quotes
from agent.answering.verdict import describe_failures, merge_changes, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.collect.frontier import list_instructions
from agent.flows.collect.state import CollectRun
from agent.flows.collect.windows import list_digest_items
from agent.roles.collect_items import DIGEST, DigestItem
from agent.text.plurals import format_count
from agent.types import Answer, Outcome


def write_digest(state: CollectRun, tools: RunContext) -> Change:
    """The change of the digest: the facts it quotes, conflicts, confidence, and the answer."""
    items, own = list_digest_items(state, tools), state.own
    failures = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    passages = [passage for item in items for passage in item.passages]
    notes = [_describe_voices(items), _describe_unread_exclusions(state)]
    blanks = {
        "prompt": state.question,
        "notes": list_instructions(state),
        "intent": own.effective_intent(state),
        "items": items,
        "failures": failures,
        "former": state.answer,
    }
    draft, answer = answer_from_quotes(
        state,
        tools,
        DIGEST,
        passages,
        blanks,
        question=state.question,
        weighed_by=own.relevance_question(state),
        caveat=" ".join(filter(None, notes)),
        journey=_describe_journey(state),
    )
    if answer.verdict == "no_evidence":
        answer = _explain_empty_digest(draft.state, answer)
        certainty = " ".join(filter(None, [answer.certainty, *notes]))
        answer = answer.replace(certainty=certainty)
    return merge_changes(draft.change, record_answer(draft.state, answer))


def _describe_voices(items: list[DigestItem]) -> str:
    """Whose words the digest reports."""
    if any(item.writers for item in items):
        return "What people post is their opinion, reported in their own words."
    return ""


def _describe_journey(state: CollectRun) -> str:
    """How many articles and threads were kept, what could not be read, and why the crawl stopped."""
    kept = state.own.kept_items
    threads = sum(item.kind != "article" for item in kept)
    failed = sum(page.outcome is not Outcome.OK for page in state.pages.values())
    counts = [
        format_count(n, word) for n, word in ((len(kept) - threads, "article"), (threads, "thread")) if n
    ]
    journey = f"{' and '.join(counts)} gathered" if counts else "Nothing was gathered"
    journey += f"; {format_count(failed, 'page')} could not be read." if failed else "."
    return journey + (f" It stopped because: {state.why_stopped}." if state.why_stopped else "")


def _describe_unread_exclusions(state: CollectRun) -> str:
    """What a person excluded, where the fallback judged the items: it compares titles and writers only."""
    excluded = ", ".join(f"“{part}”" for part in state.own.effective_intent(state).leave_out)
    if not excluded or not any(item.judged_by == "keyless" for item in state.own.items.values()):
        return ""
    return (
        f"Your wish {excluded} was read without a model: only titles and writers' names were looked at "
        "for it, so check what was kept."
    )


def _explain_empty_digest(state: CollectRun, answer: Answer) -> Answer:
    """An empty digest with its reason: blocked pages, a limit, or nothing relevant."""
    own, pages = state.own, state.pages.values()
    failed = [page for page in pages if page.outcome is not Outcome.OK]
    read = [node for node in own.tree.values() if node.page_id]
    is_blocked = any(page.outcome is not Outcome.EMPTY for page in failed)
    only_lists = all(node.action in ("EXTRACT_LINKS", "NAVIGATE_TO") and not node.held for node in read)
    if is_blocked and not own.items and only_lists:
        met = (
            "Only lists and sections could be read, and no page behind them"
            if read
            else "No page could be read"
        )
        reason, why = "blocked", f"{met}: {describe_failures(failed)}"
    elif not own.items and state.stop_reason in ("budget", "limit"):
        reason, why = "budget", f"Nothing was gathered: {state.why_stopped}."
    else:
        reason, why = "not_covered", f"{_describe_findings(state)}.{_describe_untimely(state)}"
    return answer.replace(reason=reason, certainty=f"No digest is given. {why}")


def _describe_findings(state: CollectRun) -> str:
    """What was gathered although the digest is empty."""
    own, failed = state.own, sum(page.outcome is not Outcome.OK for page in state.pages.values())
    kept, timely = own.kept_items, [i for i in own.items.values() if own.is_in_range(state, i.last_date)]
    if kept:
        return f"{len(kept)} gathered, but their words back no sentence of a digest: read them below"
    found = f"{len(timely)} {'was' if len(timely) == 1 else 'were'} gathered, and none is relevant"
    found = found if timely else "No article or thread was found"
    unread = f"; {failed} could not be read" if failed else ""
    return f"{found} on the {format_count(state.pages_read_count, 'page')} read{unread}"


def _describe_untimely(state: CollectRun) -> str:
    """What lies outside the time that was asked for, and what to do to get it; "" for nothing."""
    own = state.own
    days = [node.detected_date for node in own.tree.values() if node.status == "dropped"]
    days += [item.last_date for item in own.items.values() if item.status == "dropped"]
    outside = sorted(day[:10] for day in days if not own.is_in_range(state, day))
    if not outside:
        return ""
    count = format_count(len(outside), "entry", "entries")
    return (
        f" Outside the time asked for: {count}, the newest of {outside[-1]}. Send it back with another time."
    )
