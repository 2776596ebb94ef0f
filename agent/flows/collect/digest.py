"""From what was kept to the digest: what its writer is shown, and the verdict with its reason when there is
nothing to tell."""

from __future__ import annotations

from agent.flows.collect.state import CollectRun
from agent.flows.shared.verdict import build_answer, describe_failures
from agent.roles.collect.digest import DigestItem
from agent.roles.role import RoleResult
from agent.types import Answer, Outcome, PageRef

FACTS_SHOWN = 60
"""Facts that the digest's writer is shown."""
TRANSIT_ACTIONS = ("EXTRACT_LINKS", "NAVIGATE_TO")


def list_digest_items(state: CollectRun) -> list[DigestItem]:
    """The kept items with their usable facts, the best first; items without any speak by their title alone
    and are left out."""
    each = max(1, FACTS_SHOWN // max(1, len(state.own.kept_items)))
    shown = []
    for item in state.own.kept_items:
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


def build_digest(state: CollectRun, judgement: RoleResult, step: int) -> Answer:
    """The digest as an answer. What a person ruled out in words that no model has read is told in its
    certainty."""
    written = build_answer(state, judgement, step)
    if written.verdict == "no_evidence":
        written = _explain_empty_digest(state, written)
    return written.model_copy(
        update={"certainty": " ".join(filter(None, [written.certainty, _describe_unread_wishes(state)]))}
    )


def _describe_unread_wishes(state: CollectRun) -> str:
    """What a person does not want, where items were judged by rule: rules know it by titles and writers
    alone."""
    if not state.own.effective_intent(state).leave_out or not any(
        item.judged_by == "keyless" for item in state.own.items.values()
    ):
        return ""
    said = ", ".join(f"“{refusal}”" for refusal in state.own.effective_intent(state).leave_out)
    return f"Your wish {said} was read without a model: only titles and writers' names were looked at for it, so check what was kept."


def _explain_empty_digest(state: CollectRun, written: Answer) -> Answer:
    """A digest of nothing: blocked when what should have been read would not come, budget when a limit ended
    the walk before."""
    failed = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    read = [branch for branch in state.own.tree.values() if branch.page_id]
    barred = any(page.outcome is not Outcome.EMPTY for page in failed)
    if (
        barred
        and not state.own.items
        and all(branch.action in TRANSIT_ACTIONS and not branch.held for branch in read)
    ):
        met = (
            "No page could be read"
            if not read
            else "Only lists and sections could be read, and no page behind them"
        )
        reason, why = "blocked", f"{met}: {describe_failures(failed)}"
    elif not state.own.items and state.stop_reason in ("budget", "limit"):
        reason, why = "budget", f"Nothing was gathered: {state.why_stopped}."
    else:
        reason, why = "not_covered", _describe_irrelevant_finds(state, failed)
    return written.model_copy(update={"reason": reason, "certainty": f"No digest is given. {why}"})


def _describe_irrelevant_finds(state: CollectRun, failed: list[PageRef]) -> str:
    """What was read and was not to the point."""
    count = len(state.own.items)
    pages = sum(bool(page.page_id) for page in state.pages.values())
    found = (
        f"{count} {'was' if count == 1 else 'were'} gathered, and none is wanted"
        if count
        else "No article or thread was found"
    )
    unread = f"; {len(failed)} could not be read" if failed else ""
    return f"{found} on the {pages} {'page' if pages == 1 else 'pages'} read{unread}."
