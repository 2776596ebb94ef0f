"""What could not be read, and what a person does about it: try again, paste the text, upload the file; or
bring a page of their own.

A page that is given so counts as read, marked with where it came from. Its facts are taken by the flow, as of
any page; when there is an answer already it is then written again, without searching on; only a search that
is made again goes on with what it finds. While a run works the page waits for its next decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.actions import page_changes
from agent.engine.run_state import RunState
from agent.engine.state import Change, to_jsonable
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.text.urls import canonicalize, complete_typed_url
from agent.types import Action, Outcome, Page, PageRef, Status
from agent.types.source_filter import OUTSIDE_FILTER
from agent.web.extract import documents
from agent.workbench import Workbench

ACCEPTING_FLOWS = ("research", "site")
"""Flows that take in what a person gives."""
MAX_PASTED_CHARS = 2_000_000
"""Characters of a pasted text."""
MIN_PASTED_CHARS = 20
MAX_ATTEMPTS = 5
"""Times a word is spoken anew when the run moved at that very moment."""
_ANSWERED_STATUSES = (Status.REVIEW, Status.DONE)
_BROWSER_ADVICE = (
    "Open it in your browser; what you see there can be pasted here, or saved as PDF and uploaded."
)
_ADVICE = {
    Outcome.RATE_LIMITED: "Wait a minute, then try again.",
    Outcome.BLOCKED: _BROWSER_ADVICE,
    Outcome.NOT_FOUND: "Look for its title or an archived copy, then paste or upload what you find.",
    Outcome.TIMEOUT: "Try again; if it stays too slow, paste its text.",
    Outcome.UNSUPPORTED: "Open it with its own program, save it as PDF, Word or plain text, and upload that.",
    Outcome.TOO_LARGE: "Download it and upload the part that matters; FETCH_MAX_MB raises the limit.",
    Outcome.EMPTY: _BROWSER_ADVICE,
    Outcome.ERROR: "Try again later, or paste its text.",
    Outcome.REFUSED: _BROWSER_ADVICE,
}
_SEARCH_ADVICE = {
    Outcome.RATE_LIMITED: "Wait a minute, then try again.",
    Outcome.EMPTY: "Nothing failed, nothing was found: a note with other words helps more than another try.",
}
_ADVICE_BY_PHRASE = (
    ("login", "Log in with your own browser, then paste the text or upload the saved page."),
    ("paywall", "With a subscription of your own, open it, then paste the text or upload the saved page."),
    (
        "subscription",
        "With a subscription of your own, open it, then paste the text or upload the saved page.",
    ),
    ("consent", "Answer the consent form in your own browser, then paste the text or upload the saved page."),
    ("human", "Open it in your own browser, pass the check there, then paste the text."),
    ("JavaScript", "Open it in a browser, where its scripts run; select all, copy, and paste it here."),
    (
        "robots.txt",
        "Its owner asks programs to stay away, and that is kept to. A person may read it: open it, then paste the text.",
    ),
    (OUTSIDE_FILTER, "It does not fit the sources you chose. Ask anew with wider ones if it should count."),
    (
        "left out",
        "All results lie outside the sources you chose. Ask anew with wider ones, or with other words.",
    ),
    (
        "outside the sites",
        "It lies outside the domains you chose. Ask anew with wider ones if it should count.",
    ),
)
"""What the sentence of a failure holds, and what helps then. The first that fits."""


@dataclass(frozen=True)
class FailedRequest:
    """A page or search that brought nothing: why, what helps, and what of it this run takes."""

    kind: str
    what: str
    outcome: Outcome
    reason: str
    advice: str
    step: int
    can_retry: bool
    """Can it be tried again?"""
    can_supply: bool
    """Can a person give its text?"""


def list_failed_requests(state: RunState) -> list[FailedRequest]:
    """All that could not be read, newest first. Of searches for the same words only the last."""
    takes = state.settings.flow in ACCEPTING_FLOWS
    found = []
    for ref in state.pages.values():
        if ref.outcome is not Outcome.OK:
            ruled = ref.outcome is Outcome.REFUSED
            chosen = ruled and (OUTSIDE_FILTER in ref.detail or "outside the sites" in ref.detail)
            found.append(_build_failed_request("Page", ref, takes, (not ruled, not chosen)))
    searches = {
        (action.action, action.query_or_url): action
        for action in state.actions
        if action.action != "crawl_url"
    }
    for action in searches.values():
        if action.outcome is not Outcome.OK:
            found.append(_build_failed_request("Search", action, takes, (True, False)))
    return sorted(found, key=lambda one: -one.step)


def _build_failed_request(
    kind: str, made: PageRef | Action, takes: bool, may: tuple[bool, bool]
) -> FailedRequest:
    """As it is told; a run that takes nothing in gets the general hint of the failure, and no ways."""
    what = made.url if isinstance(made, PageRef) else made.query_or_url
    outcome, detail, step = made.outcome, made.detail, made.step
    said, _, hint = detail.partition(". ")
    reason = detail if OUTSIDE_FILTER in detail else f"{said.rstrip('.')}." if said else ""
    helps = find_advice(outcome, detail, search=kind == "Search") if takes else hint
    return FailedRequest(
        kind, what, outcome, reason, helps, step, can_retry=takes and may[0], can_supply=takes and may[1]
    )


def find_advice(outcome: Outcome, detail: str = "", *, search: bool = False) -> str:
    """What a person can do about a page (or search) that ended so, in a sentence."""
    said = next((told for word, told in _ADVICE_BY_PHRASE if word in detail), "")
    if search:
        return said or _SEARCH_ADVICE.get(outcome, "Try again in a while, or let another engine be asked.")
    return said or _ADVICE.get(outcome, _BROWSER_ADVICE)


def retry(bench: Workbench, run_id: str, what: str) -> None:
    """Try a page or a search again that failed; the pauses that a site or engine asked for hold. Raises
    UsageError, Overtaken."""

    def build_change(state: RunState, step: int) -> Change:
        change = page_changes.request_retry(state, what, step)
        if change is None:
            raise UsageError(
                f"“{what[:100]}” is no page or search of this run that failed: there is nothing to try again"
            )
        return change

    _append_person_step(bench, run_id, "retry", build_change)


def paste(bench: Workbench, run_id: str, url: str, text: str, title: str = "") -> None:
    """Take this text for that of the page at `url`, by a person's word. Raises UsageError, Overtaken."""
    if len(text.strip()) < MIN_PASTED_CHARS:
        raise UsageError(f"paste the text of the page first: {MIN_PASTED_CHARS} characters are the least")
    if len(text) > MAX_PASTED_CHARS:
        raise UsageError(
            f"the text has {len(text):,} characters; {MAX_PASTED_CHARS:,} are the most. Paste the part that matters, or upload the file"
        )
    address = _check_address(bench, run_id, url)
    ref = page_changes.find_page(bench.snapshot(run_id).state, address)
    page = documents.read_document("pasted.txt", text.encode("utf-8", "replace"), url=address)
    named = title.strip() or (ref.title if ref else "") or page.title
    _supply_page(bench, run_id, page.model_copy(update={"title": named, "origin": "pasted"}))


def upload(bench: Workbench, run_id: str, url: str, name: str, data: bytes) -> None:
    """Take this file for the page at `url` ("" for one that is on no site). Raises UsageError, Overtaken."""
    address = _check_address(bench, run_id, url) if url.strip() else ""
    page = documents.read_document(name, data, url=address)
    if not page.text.strip():
        raise UsageError(f"{documents.clean_name(name)} holds no text that can be read")
    _supply_page(bench, run_id, page.model_copy(update={"origin": "uploaded"}))


def _check_address(bench: Workbench, run_id: str, url: str) -> str:
    """The address as it is meant. Raises UsageError for one that is none, or that lies outside the sources of
    the run."""
    given = complete_typed_url(url)
    if not canonicalize(given):
        raise UsageError(
            f"“{url[:80]}” is not a web address; name one like example.org or https://example.org/faq"
        )
    if not bench.snapshot(run_id).run.settings.allows(given):
        raise UsageError(
            f"{given[:200]} lies outside the domains you chose for this run: ask anew with wider ones"
        )
    return given


def _supply_page(bench: Workbench, run_id: str, page: Page) -> None:
    run = bench.snapshot(run_id).run
    if run.settings.flow == "site" and page_changes.find_page(bench.snapshot(run_id).state, page.url) is None:
        raise UsageError(
            "a page that this run never asked for cannot be given to it: name it as a start page of a new question"
        )
    page_id = bench.store.pages.put(page, shelve=False)
    _append_person_step(
        bench, run_id, "supply", lambda state, step: page_changes.supply_page(state, page, page_id, step)
    )


def _append_person_step(
    bench: Workbench, run_id: str, name: str, make: Callable[[RunState, int], Change]
) -> None:
    """Say it as the person's step: a run at work or at rest heeds it at its next decision, one that has
    answered wakes for it."""
    for left in reversed(range(MAX_ATTEMPTS)):
        view = bench.snapshot(run_id)
        flow, status = FLOWS[view.run.settings.flow], view.run.status
        if view.run.settings.flow not in ACCEPTING_FLOWS:
            raise UsageError(
                f"a {view.run.settings.flow} run takes no pages from a person; add it to the library, or ask anew"
            )
        change, next, columns = make(view.state, view.head + 1), "", {}
        if status in (*_ANSWERED_STATUSES, Status.WAITING):
            next, columns = (
                _find_reentry_step(view.run.settings.flow),
                {"status": Status.RUNNING, "control": ""},
            )
        elif (
            view.next == flow.write_up_step or view.next in flow.rest_statuses
        ):  # what comes next was decided without it
            next = _find_reentry_step(view.run.settings.flow)
        if next:
            goes_on = any(
                wish.action != "crawl_url" for wish in change.get("again", ())
            )  # what a search finds wants to be read
            anew = {"why_stopped": "", "stop_reason": ""} if goes_on else {"rewriting": view.head + 1}
            change = {**change, "pending": None, **anew}
        try:
            bench.store.ledger.append_person_step(
                run_id, name, to_jsonable(change), next=next, head=view.head, among=(status,), **columns
            )
            break
        except ConcurrentChange:
            if not left:
                raise
    bench.worker.schedule(run_id)


def _find_reentry_step(flow: str) -> str:
    """The step that heeds what was given."""
    return "decide" if "decide" in FLOWS[flow].steps else FLOWS[flow].reentry_step
