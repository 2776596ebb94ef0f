"""Pages and searches that failed, and what a person does about them: retry, paste the text, upload a file;
or add a page of their own.

A page that a person supplies counts as read, marked with its origin. The flow extracts its facts as from any
page; an answer is then written again without a new search, except after the retry of a search. A running run
takes the page at its next decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agent.actions.commit import ACCEPTING_FLOWS, ANSWERED_STATUSES, GO_ON, ActionContext, PersonStep, commit
from agent.actions.validation import require_allowed_url
from agent.answering.pages import refer_to_stored
from agent.engine.run_state import RetryRequest, RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.text.plurals import clip
from agent.text.tokens import tokenize
from agent.text.urls import FILE_SCHEME, canonicalize
from agent.types import Action, Outcome, PageRef, Status
from agent.types.source_filter import OUTSIDE_FILTER
from agent.web.extract import documents

MAX_PASTED_CHARS = 2_000_000
MIN_PASTED_CHARS = 20
_ADVICE = {
    Outcome.RATE_LIMITED: "Wait a minute, then try again.",
    Outcome.NOT_FOUND: "Look for its title or an archived copy, then paste or upload what you find.",
    Outcome.TIMEOUT: "Try again; if it stays too slow, paste its text.",
    Outcome.UNSUPPORTED: "Open it with its own program, save it as PDF, Word or plain text, and upload that.",
    Outcome.TOO_LARGE: "Download it and upload the part that matters; FETCH_MAX_MB raises the limit.",
    Outcome.ERROR: "Try again later, or paste its text.",
}
_SEARCH_ADVICE = {
    Outcome.RATE_LIMITED: "Wait a minute, then try again.",
    Outcome.EMPTY: "The search found nothing: guidance with other words helps more than another try.",
}
_SUBSCRIBED = "With a subscription of your own, open it, then paste the text or upload the saved page."
_WIDER = "Ask again with wider ones if it should count."
_ADVICE_BY_PHRASE = {
    "login": "Log in with your own browser, then paste the text or upload the saved page.",
    "paywall": _SUBSCRIBED,
    "subscription": _SUBSCRIBED,
    "consent": "Answer the consent form in your own browser, then paste the text or upload the saved page.",
    "human": "Open it in your own browser, pass the check there, then paste the text.",
    "JavaScript": "Open it in a browser, where its scripts run; select all, copy, and paste it here.",
    "robots.txt": "Its owner excludes programs, not persons: open it, then paste the text.",
    OUTSIDE_FILTER: f"It does not fit the sources you chose. {_WIDER}",
    "left out": "All results lie outside the sources you chose. Ask again with wider ones or other words.",
    "outside the sites": f"It lies outside the domains you chose. {_WIDER}",
}
"""A phrase of the reason of a failure, and what helps then; the first that fits counts."""


@dataclass(frozen=True)
class FailedRequest:
    """A page or search without a result: reason, advice, whether it can be retried or its text supplied."""

    kind: str
    what: str
    outcome: Outcome
    reason: str
    advice: str
    step: int
    can_retry: bool
    can_supply: bool


def list_failed_requests(state: RunState) -> list[FailedRequest]:
    """All pages and searches that failed, newest first; of repeated searches only the last."""
    accepting = state.settings.flow in ACCEPTING_FLOWS
    failed = []
    for ref in state.pages.values():
        if ref.outcome is not Outcome.OK:
            refused = ref.outcome is Outcome.REFUSED
            filtered = refused and (OUTSIDE_FILTER in ref.detail or "outside the sites" in ref.detail)
            failed.append(_describe_failure("Page", ref.url, ref, accepting, not refused, not filtered))
    searches = {(action.action, action.query_or_url): action for action in state.actions if action.is_search}
    for action in searches.values():
        if action.outcome is not Outcome.OK:
            failed.append(_describe_failure("Search", action.query_or_url, action, accepting, True, False))
    advice = "Find it elsewhere, then paste its text or upload its file."
    for name, why in state.own.list_unaddressed().items():
        failed.append(FailedRequest("Reference", name, Outcome.NOT_FOUND, why, advice, 0, False, True))
    return sorted(failed, key=lambda request: -request.step)


def _describe_failure(
    kind: str, what: str, made: PageRef | Action, accepting: bool, retry: bool, supply: bool
) -> FailedRequest:
    """The failure; without advice of ours where the run accepts nothing."""
    first, _, hint = made.detail.partition(". ")
    reason = made.detail if OUTSIDE_FILTER in made.detail else f"{first.rstrip('.')}." if first else ""
    advice = find_advice(made.outcome, made.detail, search=kind == "Search") if accepting else hint
    can = accepting and retry, accepting and supply
    return FailedRequest(kind, what, made.outcome, reason, advice, made.step, *can)


def find_advice(outcome: Outcome, detail: str = "", *, search: bool = False) -> str:
    """What a person can do about a page or search that failed like this, in a sentence."""
    by_phrase = next((advice for phrase, advice in _ADVICE_BY_PHRASE.items() if phrase in detail), "")
    if search:
        return by_phrase or _SEARCH_ADVICE.get(
            outcome, "Try again in a while, or search with another engine."
        )
    return by_phrase or _ADVICE.get(
        outcome,
        "Open it in your browser; what you see there can be pasted here, or saved as PDF and uploaded.",
    )


def retry(
    view: RunSnapshot,
    what: Annotated[str, Field(description="the address of the page, or the words of the search")],
) -> PersonStep:
    """Retry a page or a search that failed; rate limits hold."""
    if ref := find_page(view.state, what):
        failed, action, target = ref.outcome is not Outcome.OK, "crawl_url", ref.url
    else:
        searches = [a for a in view.state.actions if a.is_search and a.query_or_url == what]
        failed = bool(searches) and searches[-1].outcome is not Outcome.OK
        action, target = searches[-1].action if searches else "", what
    if not failed:
        raise UsageError(f"“{clip(what)}” is no page or search of this run that failed")
    request = RetryRequest(step=view.head + 1, action=action, query_or_url=target)
    return _use_input(view, {"again": [request]})


class GivenFile(BaseModel):
    """A file that a person gives: its name and its bytes (in JSON as base64)."""

    model_config = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")

    name: str
    data: bytes = Field(
        json_schema_extra={"pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}
    )


def supply(
    bench: ActionContext,
    run_id: str,
    head: int | None,
    *,
    url: Annotated[
        str, Field(description="the page it is for (none for a file of no site), or the name of a reference")
    ] = "",
    text: Annotated[str, Field(description="the text of the page")] = "",
    file: Annotated[GivenFile | None, Field(description="the page as a file, in place of its text")] = None,
    title: Annotated[str, Field(description="the title of the text")] = "",
) -> int:
    """Give the run a page that it could not read, or one of your own: its text, or a file."""
    view = bench.snapshot(run_id)
    settings, is_reference = view.run.settings, url in view.state.own.list_unaddressed()
    if file is None and len(text.strip()) < MIN_PASTED_CHARS:
        raise UsageError(f"paste the text of the page first: at least {MIN_PASTED_CHARS} characters")
    if len(text) > MAX_PASTED_CHARS:
        raise UsageError(
            f"the text has {len(text):,} characters; {MAX_PASTED_CHARS:,} are the most. Paste the part that "
            "matters, or upload the file"
        )
    has_address = not is_reference and (file is None or url.strip())
    address = require_allowed_url(url, settings) if has_address else ""
    if file:
        page = documents.read_document(file.name, file.data, url=address).replace(origin="uploaded")
        if not page.text.strip():
            raise UsageError(f"{documents.clean_name(file.name)} holds no text that can be read")
    else:
        name, ref = f"{url}.txt" if is_reference else "pasted.txt", find_page(view.state, address)
        page = documents.read_document(name, text.encode("utf-8", "replace"), url=address)
        title = title.strip() or (ref.title if ref else "") or page.title
        page = page.replace(title=title, origin="pasted")
    if settings.flow == "site" and find_page(view.state, page.url) is None:
        raise UsageError(
            "this run never asked for that page: name it as a start page of a new question instead"
        )
    page_id = bench.store.pages.put(page, shelve=False)

    def build_step(view: RunSnapshot) -> PersonStep:
        """The page counts as read, and waits to be analyzed."""
        former, named = find_page(view.state, page.url), view.state.own.place_reference(url, page.url)
        known = former or refer_to_stored(page, page_id, "person", 0, url=page.url)
        ref = refer_to_stored(page, page_id, known.found_on, view.head + 1, url=known.url)
        ref = ref.replace(final_url=page.final_url, origin=page.origin, waiting=True, links=known.links)
        change: Change = {"pages": [ref], **named}
        if ref.url.startswith(FILE_SCHEME):  # what has an address on the web is no secret
            change["file_words"] = [" ".join(dict.fromkeys(tokenize(f"{page.title} {page.text}")))]
        return _use_input(view, change)

    return commit(bench, run_id, "supply", build_step, head=head)


def _use_input(view: RunSnapshot, change: Change) -> PersonStep:
    """The step of an input, which is used at the next decision; a run that has answered goes on."""
    flow = FLOWS[view.run.settings.flow]
    rests = view.run.status in (*ANSWERED_STATUSES, Status.WAITING)
    if not rests and not flow.is_ending(view.next):
        return PersonStep(change)
    searches = any(request.action != "crawl_url" for request in change.get("again", ()))
    anew = {"why_stopped": "", "stop_reason": ""} if searches else {"rewriting": view.head + 1}
    next = "decide" if "decide" in flow.steps else flow.reentry_step
    return PersonStep({**change, "pending": None, **anew}, next, GO_ON if rests else {})


def find_page(state: RunState, url: str) -> PageRef | None:
    """The run's page of this address, in any spelling."""
    address = canonicalize(url) or url
    same = (ref for ref in state.pages.values() if (canonicalize(ref.url) or ref.url) == address)
    return state.pages.get(url) or next(same, None)
