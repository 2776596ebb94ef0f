"""The digest of what was kept, and the verdict with its reason when there is nothing to report."""

from __future__ import annotations

from functools import partial

from agent.engine.context import RunContext
from agent.flows.collect.state import CollectRun
from agent.flows.shared.claim_checks import check_sentences
from agent.flows.shared.verdict import build_answer, describe_failures
from agent.roles.collect.digest import DigestItem
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.types import Answer, Outcome

FACTS_SHOWN = 60
"""Facts that the writer of the digest is shown."""


def list_digest_items(state: CollectRun) -> list[DigestItem]:
    """The kept items with their usable facts, pinned ones first; items without facts are left out."""
    kept = state.own.kept_items
    each = max(1, FACTS_SHOWN // max(1, len(kept)))
    shown = []
    for item in kept:
        facts = [
            fact
            for fact in state.facts.values()
            if fact.page_id in item.page_ids and fact.title == item.title and fact.can_support
        ]
        facts.sort(key=lambda fact: fact.decision != "pinned")
        if facts:
            shown.append(
                DigestItem(title=item.title, kind=item.kind, date=item.last_date[:10], facts=facts[:each])
            )
    return shown


def build_digest(state: CollectRun, tools: RunContext, judgement: RoleResult) -> Answer:
    """The digest as an answer; its certainty names the exclusions that no model has read."""
    answer = build_answer(state, judgement, tools.step, check=partial(check_sentences, state, tools))
    if answer.verdict == "no_evidence":
        answer = _explain_empty_digest(state, answer)
    notes = filter(None, [answer.certainty, _describe_unread_exclusions(state)])
    return answer.replace(certainty=" ".join(notes))


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
        count = len(own.items)
        found = f"{count} {'was' if count == 1 else 'were'} gathered, and none is relevant"
        found = found if count else "No article or thread was found"
        unread = f"; {len(failed)} could not be read" if failed else ""
        reason, why = (
            "not_covered",
            f"{found} on the {format_count(state.pages_read_count, 'page')} read{unread}.",
        )
    return answer.replace(reason=reason, certainty=f"No digest is given. {why}")
