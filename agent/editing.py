"""What a person may do to the facts of a run, for every surface: mark, correct, add, strike a source, undo. Each is one step.

    editing.mark(bench, run_id, ["f1a2b3c"], "struck")
    editing.undo(bench, run_id)

The changes are worked out by agent.flows.edits and agent.flows.undoing; here they get the stored pages they are checked against.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent.correcting import EDITABLE, correct
from agent.errors import NotFound, UsageError
from agent.evidence.trust import of_page
from agent.flows import FLOWS, edits, undoing
from agent.flows.edits import Draft, Falls
from agent.flows.state import Research
from agent.state import Change, fold
from agent.tools import choosing
from agent.types import Edit, Fact, Mark, Outcome, Page, PageRef
from agent.urls import canonical, site, typed
from agent.workbench import View, Workbench

NAMES: dict[Mark, str] = {"pinned": "pin", "struck": "strike", "none": "restore"}


def editable(view: View) -> bool:
    """Can the facts of this run be edited? Those of a flow can that writes its answer from them."""
    return view.run.settings.flow in EDITABLE


def mark(bench: Workbench, run_id: str, facts: Collection[str], decision: Mark, head: int | None = None) -> int:
    """Pin or strike facts, or take that back; one step for all of them. Returns its number."""
    return revise(bench, run_id, [Draft(name, decision=decision) for name in facts], head)


def revise(bench: Workbench, run_id: str, drafts: Sequence[Draft], head: int | None = None) -> int:
    """Change words and decisions of facts, in one step. Returns its number. Raises UsageError when something cannot be."""
    if not drafts:
        raise UsageError("choose at least one fact first")
    view = bench.view(run_id)
    reworded = [draft.id for draft in drafts if draft.statement is not None or draft.quote is not None]
    pages = _pages(bench, view, reworded)
    return correct(bench, run_id, _name(view, drafts), lambda state, step: edits.edited(state, step, drafts, pages), head)


def uncarried(view: View, drafts: Sequence[Draft]) -> list[Fact]:
    """The facts of these drafts whose words their quote does not carry as they stand now: no page backs them. To be told at once."""
    worded = [view.state.facts[draft.id] for draft in drafts if draft.statement is not None or draft.quote is not None]
    return [fact for fact in worded if fact.origin == "page" and not fact.verified]


def add(bench: Workbench, run_id: str, statement: str, *, url: str = "", quote: str = "") -> int:
    """Add a fact: with the address and the words of a page, or without both as the person's own knowledge. Returns the step's number."""
    if not url.strip() and not quote.strip():
        return correct(bench, run_id, "add", lambda state, step: edits.added(state, step, edits.own_knowledge(state, step, statement)))
    if not url.strip() or not quote.strip():
        raise UsageError("a fact from a page needs its address and the words as they stand there; leave out both for your own knowledge")
    page, page_id = _page(bench, bench.view(run_id), typed(url.strip()))
    signs = of_page(page)

    def make(state: Research, step: int) -> Change:
        fact = edits.quoted(state, step, statement, quote, page, page_id)
        if (word := bench.store.trusts.get(site(fact.url))) and site(fact.url) not in state.trusts:
            fact = fact.model_copy(update={"trust": word.value})
        ref = PageRef(
            url=page.url, page_id=page_id, final_url=page.final_url, title=page.title, found_on="person", step=step, facts=1,
            trust=signs.value, trust_why=list(signs.reasons),
        )  # fmt: skip
        return edits.added(state, step, fact, ref)

    return correct(bench, run_id, "add", make)


def falls(view: View, source: str) -> Falls:
    """What striking a source would take with it: to be told before it is done."""
    return edits.falls(view.state, source)


def strike_source(bench: Workbench, run_id: str, source: str, head: int | None = None) -> int:
    """Strike a site or page with all its facts, those that are read from it later too. Returns the step's number."""
    return correct(bench, run_id, "strike_source", lambda state, step: edits.source_struck(state, step, source), head)


def restore_source(bench: Workbench, run_id: str, source: str, head: int | None = None) -> int:
    """Take a struck source in again, with the facts struck with it. Returns the step's number."""
    return correct(bench, run_id, "restore_source", lambda state, step: edits.source_restored(state, step, source), head)


def undo(bench: Workbench, run_id: str, head: int | None = None) -> int:
    """Take back the last edit that stands; returns the step's number. Raises UsageError when there is none."""
    edit = undoable(bench.view(run_id))
    if edit is None:
        raise UsageError("there is nothing to undo: nobody has edited the facts of this run, or all is taken back")
    return _take_back(bench, run_id, "undo", edit, head)


def redo(bench: Workbench, run_id: str, head: int | None = None) -> int:
    """Do again what was taken back last; returns the step's number. Raises UsageError when there is nothing."""
    edit = redoable(bench.view(run_id))
    if edit is None:
        raise UsageError("there is nothing to do again")
    return _take_back(bench, run_id, "redo", edit, head)


def undoable(view: View) -> Edit | None:
    """The edit an undo would take back, in the words of what it did."""
    return _meant(view, undoing.undoable(view.state.edits, _names(view)))


def redoable(view: View) -> Edit | None:
    """The edit a redo would do again, in the words of what it did."""
    return _meant(view, undoing.redoable(view.state.edits, _names(view)))


def _meant(view: View, edit: Edit | None) -> Edit | None:
    return edit and edit.model_copy(update={"text": undoing.meant(view.state.edits, edit)})


def _names(view: View) -> dict[int, str]:
    return {edit.step: view.steps[edit.step].name for edit in view.state.edits if edit.step < len(view.steps)}


def _take_back(bench: Workbench, run_id: str, name: str, edit: Edit, head: int | None) -> int:
    view = bench.view(run_id)
    empty = FLOWS[view.run.settings.flow].state
    before, after = fold(empty(), view.steps[: edit.step]), fold(empty(), view.steps[: edit.step + 1])

    def make(state: Research, step: int) -> Change:
        known = {number: _names(bench.view(run_id)).get(number, "") for number in (other.step for other in state.edits)}
        last = undoing.undoable(state.edits, known) if name == "undo" else undoing.redoable(state.edits, known)
        if last is None or last.step != edit.step:
            raise UsageError("somebody else has edited meanwhile: look at what is last now")
        return undoing.taken_back(state, step, edit, before, after)  # type: ignore[arg-type]

    return correct(bench, run_id, name, make, head)


def _name(view: View, drafts: Sequence[Draft]) -> str:
    """What the step is called: by what it does when it does one thing."""
    worded = {draft.statement is not None or draft.quote is not None for draft in drafts}
    decided = {draft.decision for draft in drafts} - {None}
    if worded == {True} and not decided:
        return "correct"
    if worded == {False} and len(decided) == 1:
        decision = next(iter(decided))
        pinned = all(draft.id in view.state.facts and view.state.facts[draft.id].decision == "pinned" for draft in drafts)
        return "unpin" if decision == "none" and pinned else NAMES[decision or "none"]
    return "revise"


def _pages(bench: Workbench, view: View, names: Sequence[str]) -> dict[str, Page]:
    """The stored pages of these facts, as far as they are stored."""
    wanted = {view.state.facts[name].page_id for name in names if name in view.state.facts} - {""}
    found = {}
    for page_id in wanted:
        try:
            found[page_id] = bench.page(page_id)
        except NotFound:
            continue
    return found


def _page(bench: Workbench, view: View, url: str) -> tuple[Page, str]:
    """The page at an address and its id: the stored one of the run, else it is read now, within the run's domains."""
    spelled = canonical(url)
    if not spelled:
        raise UsageError(f"“{url[:80]}” is not a web address; name one like example.org or https://example.org/faq")
    for ref in view.state.pages.values():
        if ref.page_id and spelled in (canonical(ref.url), canonical(ref.final_url)):
            return bench.page(ref.page_id), ref.page_id
    settings = view.run.settings
    if not settings.admits(url):
        raise UsageError(f"{url} is outside the domains that were chosen for this run ({'; '.join(settings.sources)})")
    page = choosing.page(bench.worker.world(settings.world).fetch(url, reach=settings.reach), settings.reach)
    if page.outcome is not Outcome.OK:
        why = page.detail or page.outcome.replace("_", " ")
        raise UsageError(f"{url} could not be read: {why.rstrip('.')}. Add the fact as your own knowledge, or name another page")
    return page, bench.store.pages.put(page)
