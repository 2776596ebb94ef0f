"""What a person may do to the facts of a run, for every surface: mark, correct, add, strike a source, undo.
Each is one step.

    editing.mark(bench, run_id, ["f1a2b3c"], "struck")
    editing.undo(bench, run_id)

The changes are worked out by agent.actions.fact_changes and agent.actions.undo_edits; here they get the
stored pages they are checked against."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent.actions import fact_changes, undo_edits
from agent.actions.commit import EDITABLE_FLOWS, commit_edit
from agent.actions.fact_changes import FactEdit, StrikeImpact
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.evidence.source_trust import assess_trust
from agent.flows import FLOWS
from agent.text.urls import canonicalize, complete_typed_url, site
from agent.types import Edit, Fact, Outcome, Page, PageRef, PersonMark
from agent.web import apply_source_filter
from agent.workbench import RunSnapshot, Workbench

STEP_NAMES: dict[PersonMark, str] = {"pinned": "pin", "struck": "strike", "none": "restore"}


def is_editable(view: RunSnapshot) -> bool:
    """Can the facts of this run be edited? Those of a flow can that writes its answer from them."""
    return view.run.settings.flow in EDITABLE_FLOWS


def mark(
    bench: Workbench, run_id: str, facts: Collection[str], decision: PersonMark, head: int | None = None
) -> int:
    """Pin or strike facts, or take that back; one step for all of them. Returns its number."""
    return revise(bench, run_id, [FactEdit(name, decision=decision) for name in facts], head)


def revise(bench: Workbench, run_id: str, drafts: Sequence[FactEdit], head: int | None = None) -> int:
    """Change words and decisions of facts, in one step. Returns its number. Raises UsageError when something
    cannot be."""
    if not drafts:
        raise UsageError("choose at least one fact first")
    view = bench.snapshot(run_id)
    reworded = [draft.id for draft in drafts if draft.statement is not None or draft.quote is not None]
    pages = _load_fact_pages(bench, view, reworded)
    return commit_edit(
        bench,
        run_id,
        _choose_step_name(view, drafts),
        lambda state, step: fact_changes.edit_facts(state, step, drafts, pages),
        head,
    )


def find_unsupported_facts(view: RunSnapshot, drafts: Sequence[FactEdit]) -> list[Fact]:
    """The facts of these drafts whose words their quote does not carry as they stand now: no page backs them.
    To be told at once."""
    worded = [
        view.state.facts[draft.id]
        for draft in drafts
        if draft.statement is not None or draft.quote is not None
    ]
    return [fact for fact in worded if fact.origin == "page" and not fact.verified]


def add(bench: Workbench, run_id: str, statement: str, *, url: str = "", quote: str = "") -> int:
    """Add a fact: with the address and the words of a page, or without both as the person's own knowledge.
    Returns the step's number."""
    if not url.strip() and not quote.strip():
        return commit_edit(
            bench,
            run_id,
            "add",
            lambda state, step: fact_changes.add_fact(
                state, step, fact_changes.build_own_fact(state, step, statement)
            ),
        )
    if not url.strip() or not quote.strip():
        raise UsageError(
            "a fact from a page needs its address and the words as they stand there; leave out both for your own knowledge"
        )
    page, page_id = _find_or_fetch_page(bench, bench.snapshot(run_id), complete_typed_url(url.strip()))
    signs = assess_trust(page)

    def make(state: RunState, step: int) -> Change:
        fact = fact_changes.build_quoted_fact(state, step, statement, quote, page, page_id)
        if (word := bench.store.trust_ratings.get(site(fact.url))) and site(fact.url) not in state.trusts:
            fact = fact.model_copy(update={"trust": word.value})
        ref = PageRef(
            url=page.url,
            page_id=page_id,
            final_url=page.final_url,
            title=page.title,
            found_on="person",
            step=step,
            facts=1,
            trust=signs.value,
            trust_why=list(signs.reasons),
        )
        return fact_changes.add_fact(state, step, fact, ref)

    return commit_edit(bench, run_id, "add", make)


def preview_strike(view: RunSnapshot, source: str) -> StrikeImpact:
    """What striking a source would take with it: to be told before it is done."""
    return fact_changes.preview_strike(view.state, source)


def strike_source(bench: Workbench, run_id: str, source: str, head: int | None = None) -> int:
    """Strike a site or page with all its facts, those that are read from it later too. Returns the step's
    number."""
    return commit_edit(
        bench,
        run_id,
        "strike_source",
        lambda state, step: fact_changes.strike_source(state, step, source),
        head,
    )


def restore_source(bench: Workbench, run_id: str, source: str, head: int | None = None) -> int:
    """Take a struck source in again, with the facts struck with it. Returns the step's number."""
    return commit_edit(
        bench,
        run_id,
        "restore_source",
        lambda state, step: fact_changes.restore_source(state, step, source),
        head,
    )


def undo(bench: Workbench, run_id: str, head: int | None = None) -> int:
    """Take back the last edit that stands; returns the step's number. Raises UsageError when there is
    none."""
    edit = find_undoable(bench.snapshot(run_id))
    if edit is None:
        raise UsageError(
            "there is nothing to undo: nobody has edited the facts of this run, or all is taken back"
        )
    return _commit_reversal(bench, run_id, "undo", edit, head)


def redo(bench: Workbench, run_id: str, head: int | None = None) -> int:
    """Do again what was taken back last; returns the step's number. Raises UsageError when there is
    nothing."""
    edit = find_redoable(bench.snapshot(run_id))
    if edit is None:
        raise UsageError("there is nothing to do again")
    return _commit_reversal(bench, run_id, "redo", edit, head)


def find_undoable(view: RunSnapshot) -> Edit | None:
    """The edit an undo would take back, in the words of what it did."""
    return _with_description(view, undo_edits.find_undoable(view.state.edits, _map_step_names(view)))


def find_redoable(view: RunSnapshot) -> Edit | None:
    """The edit a redo would do again, in the words of what it did."""
    return _with_description(view, undo_edits.find_redoable(view.state.edits, _map_step_names(view)))


def _with_description(view: RunSnapshot, edit: Edit | None) -> Edit | None:
    return edit and edit.model_copy(
        update={"text": undo_edits.describe_original_edit(view.state.edits, edit)}
    )


def _map_step_names(view: RunSnapshot) -> dict[int, str]:
    return {edit.step: view.steps[edit.step].name for edit in view.state.edits if edit.step < len(view.steps)}


def _commit_reversal(bench: Workbench, run_id: str, name: str, edit: Edit, head: int | None) -> int:
    view = bench.snapshot(run_id)
    flow = FLOWS[view.run.settings.flow]
    before, after = flow.fold_steps(view.steps[: edit.step]), flow.fold_steps(view.steps[: edit.step + 1])

    def make(state: RunState, step: int) -> Change:
        known = {
            number: _map_step_names(bench.snapshot(run_id)).get(number, "")
            for number in (other.step for other in state.edits)
        }
        last = (
            undo_edits.find_undoable(state.edits, known)
            if name == "undo"
            else undo_edits.find_redoable(state.edits, known)
        )
        if last is None or last.step != edit.step:
            raise UsageError("somebody else has edited meanwhile: look at what is last now")
        return undo_edits.undo_edit(state, step, edit, before, after)  # type: ignore[arg-type]

    return commit_edit(bench, run_id, name, make, head)


def _choose_step_name(view: RunSnapshot, drafts: Sequence[FactEdit]) -> str:
    """What the step is called: by what it does when it does one thing."""
    worded = {draft.statement is not None or draft.quote is not None for draft in drafts}
    decided = {draft.decision for draft in drafts} - {None}
    if worded == {True} and not decided:
        return "correct"
    if worded == {False} and len(decided) == 1:
        decision = next(iter(decided))
        pinned = all(
            draft.id in view.state.facts and view.state.facts[draft.id].decision == "pinned"
            for draft in drafts
        )
        return "unpin" if decision == "none" and pinned else STEP_NAMES[decision or "none"]
    return "revise"


def _load_fact_pages(bench: Workbench, view: RunSnapshot, names: Sequence[str]) -> dict[str, Page]:
    """The stored pages of these facts, as far as they are stored."""
    wanted = {view.state.facts[name].page_id for name in names if name in view.state.facts} - {""}
    found = {}
    for page_id in wanted:
        try:
            found[page_id] = bench.page(page_id)
        except NotFound:
            continue
    return found


def _find_or_fetch_page(bench: Workbench, view: RunSnapshot, url: str) -> tuple[Page, str]:
    """The page at an address and its id: the stored one of the run, else it is read now, within the run's
    domains."""
    spelled = canonicalize(url)
    if not spelled:
        raise UsageError(
            f"“{url[:80]}” is not a web address; name one like example.org or https://example.org/faq"
        )
    for ref in view.state.pages.values():
        if ref.page_id and spelled in (canonicalize(ref.url), canonicalize(ref.final_url)):
            return bench.page(ref.page_id), ref.page_id
    settings = view.run.settings
    if not settings.allows(url):
        raise UsageError(
            f"{url} is outside the domains that were chosen for this run ({'; '.join(settings.source_descriptions)})"
        )
    page = apply_source_filter.filter_page(
        bench.worker.world(settings.world).fetch(url, reach=settings.source_filter), settings.source_filter
    )
    if page.outcome is not Outcome.OK:
        why = page.detail or page.outcome.replace("_", " ")
        raise UsageError(
            f"{url} could not be read: {why.rstrip('.')}. Add the fact as your own knowledge, or name another page"
        )
    return page, bench.store.pages.put(page)
