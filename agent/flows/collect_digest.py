"""From what was kept to the digest: what its writer is shown, and the verdict with its reason when there is nothing to tell."""

from __future__ import annotations

from agent.flows.collect_state import Collect
from agent.flows.verdict import answer, failures
from agent.roles.digest import Gathered
from agent.roles.role import Judgement
from agent.types import Answer, Outcome, PageRef

FACTS_SHOWN = 60
"""Facts that the digest's writer is shown."""
ON_THE_WAY = ("EXTRACT_LINKS", "NAVIGATE_TO")


def told(state: Collect) -> list[Gathered]:
    """The kept items with their usable facts, the best first; items without any speak by their title alone and are left out."""
    each = max(1, FACTS_SHOWN // max(1, len(state.kept)))
    shown = []
    for item in state.kept:
        facts = [fact for fact in state.facts.values() if fact.page_id in item.page_ids and fact.title == item.title and fact.usable]
        facts.sort(key=lambda fact: fact.decision != "pinned")
        if facts:
            shown.append(Gathered(title=item.title, kind=item.kind, date=item.last_date[:10], facts=facts[:each]))
    return shown


def digest(state: Collect, judgement: Judgement, step: int) -> Answer:
    """The digest as an answer. What a person ruled out in words that no model has read is told in its certainty."""
    written = answer(state, judgement, step)
    if written.verdict == "no_evidence":
        written = _nothing(state, written)
    return written.model_copy(update={"certainty": " ".join(filter(None, [written.certainty, _unread_words(state)]))})


def _unread_words(state: Collect) -> str:
    """What a person does not want, where items were judged by rule: rules know it by titles and writers alone."""
    if not state.wanted.leave_out or not any(item.judged_by == "keyless" for item in state.items.values()):
        return ""
    said = ", ".join(f"“{refusal}”" for refusal in state.wanted.leave_out)
    return f"Your wish {said} was read without a model: only titles and writers' names were looked at for it, so check what was kept."


def _nothing(state: Collect, written: Answer) -> Answer:
    """A digest of nothing: blocked when what should have been read would not come, budget when a limit ended the walk before."""
    failed = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    read = [branch for branch in state.tree.values() if branch.page_id]
    barred = any(page.outcome is not Outcome.EMPTY for page in failed)
    if barred and not state.items and all(branch.action in ON_THE_WAY and not branch.held for branch in read):
        met = "No page could be read" if not read else "Only lists and sections could be read, and no page behind them"
        reason, why = "blocked", f"{met}: {failures(failed)}"
    elif not state.items and state.stop_reason in ("budget", "limit"):
        reason, why = "budget", f"Nothing was gathered: {state.why_stopped}."
    else:
        reason, why = "not_covered", _beside(state, failed)
    return written.model_copy(update={"reason": reason, "certainty": f"No digest is given. {why}"})


def _beside(state: Collect, failed: list[PageRef]) -> str:
    """What was read and was not to the point."""
    count = len(state.items)
    pages = sum(bool(page.page_id) for page in state.pages.values())
    found = f"{count} {'was' if count == 1 else 'were'} gathered, and none is wanted" if count else "No article or thread was found"
    unread = f"; {len(failed)} could not be read" if failed else ""
    return f"{found} on the {pages} {'page' if pages == 1 else 'pages'} read{unread}."
