"""What could not be read, and what a person does about it: try again, paste the text, upload the file; or bring a page of their own.

A page that is given so counts as read, marked with where it came from. Its facts are taken by the flow, as of any page; when there is an
answer already it is then written again, without searching on; only a search that is made again goes on with what it
finds. While a run works the page waits for its next decision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.errors import Overtaken, UsageError
from agent.flows import FLOWS, supplied
from agent.flows.state import Research
from agent.state import Change, jsonable
from agent.tools import documents
from agent.types import Action, Outcome, Page, PageRef, Status
from agent.types.reach import OUTSIDE
from agent.urls import canonical, typed
from agent.workbench import Workbench

TAKES = ("research", "site")
"""Flows that take in what a person gives."""
LONGEST = 2_000_000
"""Characters of a pasted text."""
SHORTEST = 20
TRIES = 5
"""Times a word is spoken anew when the run moved at that very moment."""
_ANSWERED = (Status.REVIEW, Status.DONE)
_BY_HAND = "Open it in your browser; what you see there can be pasted here, or saved as PDF and uploaded."
_ADVICE = {
    Outcome.RATE_LIMITED: "Wait a minute, then try again.",
    Outcome.BLOCKED: _BY_HAND,
    Outcome.NOT_FOUND: "Look for its title or an archived copy, then paste or upload what you find.",
    Outcome.TIMEOUT: "Try again; if it stays too slow, paste its text.",
    Outcome.UNSUPPORTED: "Open it with its own program, save it as PDF, Word or plain text, and upload that.",
    Outcome.TOO_LARGE: "Download it and upload the part that matters; FETCH_MAX_MB raises the limit.",
    Outcome.EMPTY: _BY_HAND,
    Outcome.ERROR: "Try again later, or paste its text.",
    Outcome.REFUSED: _BY_HAND,
}
_SEARCH_ADVICE = {
    Outcome.RATE_LIMITED: "Wait a minute, then try again.",
    Outcome.EMPTY: "Nothing failed, nothing was found: a note with other words helps more than another try.",
}
_SAID = (
    ("login", "Log in with your own browser, then paste the text or upload the saved page."),
    ("paywall", "With a subscription of your own, open it, then paste the text or upload the saved page."),
    ("subscription", "With a subscription of your own, open it, then paste the text or upload the saved page."),
    ("consent", "Answer the consent form in your own browser, then paste the text or upload the saved page."),
    ("human", "Open it in your own browser, pass the check there, then paste the text."),
    ("JavaScript", "Open it in a browser, where its scripts run; select all, copy, and paste it here."),
    ("robots.txt", "Its owner asks programs to stay away, and that is kept to. A person may read it: open it, then paste the text."),
    (OUTSIDE, "It does not fit the sources you chose. Ask anew with wider ones if it should count."),
    ("left out", "All results lie outside the sources you chose. Ask anew with wider ones, or with other words."),
    ("outside the sites", "It lies outside the domains you chose. Ask anew with wider ones if it should count."),
)
"""What the sentence of a failure holds, and what helps then. The first that fits."""


@dataclass(frozen=True)
class Unread:
    """A page or search that brought nothing: why, what helps, and what of it this run takes."""

    kind: str
    what: str
    outcome: Outcome
    reason: str
    advice: str
    step: int
    again: bool
    """Can it be tried again?"""
    gives: bool
    """Can a person give its text?"""


def unread(state: Research) -> list[Unread]:
    """All that could not be read, newest first. Of searches for the same words only the last."""
    takes = state.settings.flow in TAKES
    found = []
    for ref in state.pages.values():
        if ref.outcome is not Outcome.OK:
            ruled = ref.outcome is Outcome.REFUSED
            chosen = ruled and (OUTSIDE in ref.detail or "outside the sites" in ref.detail)
            found.append(_told("Page", ref, takes, (not ruled, not chosen)))
    searches = {(action.action, action.query_or_url): action for action in state.actions if action.action != "crawl_url"}
    for action in searches.values():
        if action.outcome is not Outcome.OK:
            found.append(_told("Search", action, takes, (True, False)))
    return sorted(found, key=lambda one: -one.step)


def _told(kind: str, made: PageRef | Action, takes: bool, may: tuple[bool, bool]) -> Unread:
    """As it is told; a run that takes nothing in gets the general hint of the failure, and no ways."""
    what = made.url if isinstance(made, PageRef) else made.query_or_url
    outcome, detail, step = made.outcome, made.detail, made.step
    said, _, hint = detail.partition(". ")
    reason = detail if OUTSIDE in detail else f"{said.rstrip('.')}." if said else ""
    helps = advice(outcome, detail, search=kind == "Search") if takes else hint
    return Unread(kind, what, outcome, reason, helps, step, again=takes and may[0], gives=takes and may[1])


def advice(outcome: Outcome, detail: str = "", *, search: bool = False) -> str:
    """What a person can do about a page (or search) that ended so, in a sentence."""
    said = next((told for word, told in _SAID if word in detail), "")
    if search:
        return said or _SEARCH_ADVICE.get(outcome, "Try again in a while, or let another engine be asked.")
    return said or _ADVICE.get(outcome, _BY_HAND)


def retry(bench: Workbench, run_id: str, what: str) -> None:
    """Try a page or a search again that failed; the pauses that a site or engine asked for hold. Raises UsageError, Overtaken."""

    def wish(state: Research, step: int) -> Change:
        change = supplied.retried(state, what, step)
        if change is None:
            raise UsageError(f"“{what[:100]}” is no page or search of this run that failed: there is nothing to try again")
        return change

    _speak(bench, run_id, "retry", wish)


def paste(bench: Workbench, run_id: str, url: str, text: str, title: str = "") -> None:
    """Take this text for that of the page at `url`, by a person's word. Raises UsageError, Overtaken."""
    if len(text.strip()) < SHORTEST:
        raise UsageError(f"paste the text of the page first: {SHORTEST} characters are the least")
    if len(text) > LONGEST:
        raise UsageError(f"the text has {len(text):,} characters; {LONGEST:,} are the most. Paste the part that matters, or upload the file")
    address = _address(bench, run_id, url)
    ref = supplied.known(bench.view(run_id).state, address)
    page = documents.read("pasted.txt", text.encode("utf-8", "replace"), url=address)
    named = title.strip() or (ref.title if ref else "") or page.title
    _give(bench, run_id, page.model_copy(update={"title": named, "origin": "pasted"}))


def upload(bench: Workbench, run_id: str, url: str, name: str, data: bytes) -> None:
    """Take this file for the page at `url` ("" for one that is on no site). Raises UsageError, Overtaken."""
    address = _address(bench, run_id, url) if url.strip() else ""
    page = documents.read(name, data, url=address)
    if not page.text.strip():
        raise UsageError(f"{documents.clean(name)} holds no text that can be read")
    _give(bench, run_id, page.model_copy(update={"origin": "uploaded"}))


def _address(bench: Workbench, run_id: str, url: str) -> str:
    """The address as it is meant. Raises UsageError for one that is none, or that lies outside the sources of the run."""
    given = typed(url)
    if not canonical(given):
        raise UsageError(f"“{url[:80]}” is not a web address; name one like example.org or https://example.org/faq")
    if not bench.view(run_id).run.settings.admits(given):
        raise UsageError(f"{given[:200]} lies outside the domains you chose for this run: ask anew with wider ones")
    return given


def _give(bench: Workbench, run_id: str, page: Page) -> None:
    run = bench.view(run_id).run
    if run.settings.flow == "site" and supplied.known(bench.view(run_id).state, page.url) is None:
        raise UsageError("a page that this run never asked for cannot be given to it: name it as a start page of a new question")
    page_id = bench.store.pages.put(page, shelve=False)
    _speak(bench, run_id, "supply", lambda state, step: supplied.given(state, page, page_id, step))


def _speak(bench: Workbench, run_id: str, name: str, make: Callable[[Research, int], Change]) -> None:
    """Say it as the person's step: a run at work or at rest heeds it at its next decision, one that has answered wakes for it."""
    for left in reversed(range(TRIES)):
        view = bench.view(run_id)
        flow, status = FLOWS[view.run.settings.flow], view.run.status
        if view.run.settings.flow not in TAKES:
            raise UsageError(f"a {view.run.settings.flow} run takes no pages from a person; add it to the library, or ask anew")
        change, next, columns = make(view.state, view.head + 1), "", {}
        if status in (*_ANSWERED, Status.WAITING):
            next, columns = _onward(view.run.settings.flow), {"status": Status.RUNNING, "control": ""}
        elif view.next == flow.on_budget or view.next in flow.rests:  # what comes next was decided without it
            next = _onward(view.run.settings.flow)
        if next:
            goes_on = any(wish.action != "crawl_url" for wish in change.get("again", ()))  # what a search finds wants to be read
            anew = {"why_stopped": "", "stop_reason": ""} if goes_on else {"rewriting": view.head + 1}
            change = {**change, "pending": None, **anew}
        try:
            bench.store.ledger.speak(run_id, name, jsonable(change), next=next, head=view.head, among=(status,), **columns)
            break
        except Overtaken:
            if not left:
                raise
    bench.worker.kick(run_id)


def _onward(flow: str) -> str:
    """The step that heeds what was given."""
    return "decide" if "decide" in FLOWS[flow].steps else FLOWS[flow].again
