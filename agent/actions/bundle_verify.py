"""Does a bundle hold? Its bytes, its hashes, its ledger and its quotes, all computed again; and, asked anew,
what its sources say today.

Nothing is taken on trust but that the bundle is the one you were given: its SHA-256 is told, to be compared.
Stores nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isclose
from typing import Literal

from pydantic import ValidationError

from agent.engine.run_state import RunState
from agent.errors import BundleError
from agent.evidence import quote_match
from agent.export import bundle
from agent.export.archive import sha256
from agent.export.bundle import BundleContents
from agent.flows import FLOWS
from agent.flows.shared import recheck_answers
from agent.store.pages import page_to_row
from agent.text.urls import canonicalize
from agent.types import PAGE_ORIGIN_LABELS, Fact, Outcome, Page, PageOrigin, Settings
from agent.web.world import World

SourceDrift = Literal["same", "stands", "lost", "gone", "unread", "given"]
MAX_LISTED_PROBLEMS = 20
"""Troubles that are told one by one."""


@dataclass(frozen=True)
class SourceCheck:
    """What became of a source: `same` text; changed, but every quote `stands`; changed, and a quote is
    `lost`; `gone`; `unread`, and why. What a person gave in place of a page is told apart (`by`): it is
    `given` when its address cannot be read now, either."""

    url: str
    drift: SourceDrift
    quotes: int
    lost_quotes: Sequence[str] = ()
    detail: str = ""
    origin: PageOrigin = "fetched"

    @property
    def description(self) -> str:
        """As a sentence for a person."""
        each = "the quote still stands" if self.quotes == 1 else f"all {self.quotes} quotes still stand"
        given = f"{PAGE_ORIGIN_LABELS[self.origin]}; " if self.origin != "fetched" else ""
        return (
            given
            + {
                "same": "same",
                "stands": f"changed, {each}",
                "lost": f"changed, {len(self.lost_quotes)} of {self.quotes} quotes no longer stand{'s' if self.quotes == 1 else ''}",
                "gone": f"gone ({self.detail})",
                "unread": f"could not be read now ({self.detail})",
                "given": f"its address could not be read now, either ({self.detail})",
            }[self.drift]
        )


@dataclass(frozen=True)
class BundleVerification:
    """What was found. `troubles` is empty when the bundle holds; `remarks` do not speak against it."""

    sha256: str
    contents: BundleContents | None = None
    state: RunState | None = None
    problems: Sequence[str] = ()
    remarks: Sequence[str] = ()
    quote_count: int = 0
    found_quote_count: int = 0
    sources: Sequence[SourceCheck] = field(default=())

    @property
    def is_valid(self) -> bool:
        """Is it what it was, and does all it says of itself come out again?"""
        return not self.problems


def verify_bundle(data: bytes) -> BundleVerification:
    """Everything that can be computed from the bundle alone. Raises nothing for what a bundle may hold."""
    try:
        contents = bundle.read_bundle(data)
        state = fold_contents(contents)
    except BundleError as trouble:
        return BundleVerification(sha256(data), problems=[str(trouble)])
    facts = [fact for fact in state.facts.values() if _claims_quote(fact)]
    standing = [fact for fact in facts if _has_quote_in_page(fact, contents)]
    troubles = [
        *_check_pages(contents),
        *_check_ledger(contents, state),
        *_check_quotes(facts, standing),
        *_check_answers(contents, state),
        *_check_usage(contents),
    ]
    if len(troubles) > MAX_LISTED_PROBLEMS:
        troubles = [*troubles[:MAX_LISTED_PROBLEMS], f"and {len(troubles) - MAX_LISTED_PROBLEMS} more"]
    remarks = _list_remarks(standing, contents)
    return BundleVerification(
        sha256(data),
        contents,
        state,
        troubles,
        remarks,
        quote_count=len(facts),
        found_quote_count=len(standing),
    )


def fold_contents(contents: BundleContents) -> RunState:
    """The state its steps make. Raises BundleError when they make none."""
    flow = FLOWS.get(contents.run.settings.flow)
    if flow is None:
        raise BundleError(
            f"it is a run of the flow {contents.run.settings.flow[:40]!r}, which this Touchstone does not have"
        )
    if not contents.steps or [step.n for step in contents.steps] != list(range(len(contents.steps))):
        raise BundleError("its steps are not numbered one after the other from 0")
    last = contents.steps[-1].next
    if last not in flow.steps and last not in flow.rest_statuses:
        raise BundleError("its last step leads where its flow does not go")
    try:
        return flow.fold_steps(contents.steps)
    except (ValidationError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as trouble:
        raise BundleError(
            "its steps do not make a state that this Touchstone knows: a newer version made it, or a hand"
        ) from trouble


def refetch_sources(
    found: BundleVerification, world: World, watch: Callable[[SourceCheck], None] = lambda source: None
) -> list[SourceCheck]:
    """Each page a usable fact or the answer stands on, fetched again through the world's guarded fetcher;
    `watch` is told each result."""
    told = []
    for page, wanted in _list_quoted_pages(found):
        source = compare_source(page, wanted, world.fetch(page.url))
        watch(source)
        told.append(source)
    return told


def compare_source(old: Page, wanted: Sequence[str], new: Page) -> SourceCheck:
    """What became of a page, by what it says today."""
    if old.origin != "fetched":
        if new.outcome is not Outcome.OK:
            return SourceCheck(
                old.url, "given", len(wanted), (), new.detail or new.outcome.replace("_", " "), old.origin
            )
        return replace(
            compare_source(old.model_copy(update={"origin": "fetched"}), wanted, new), origin=old.origin
        )
    if new.outcome is not Outcome.OK:
        gone = new.outcome is Outcome.NOT_FOUND or new.status == 410
        return SourceCheck(
            old.url,
            "gone" if gone else "unread",
            len(wanted),
            wanted,
            new.detail or new.outcome.replace("_", " "),
        )
    if new.sha256 == old.sha256:
        return SourceCheck(old.url, "same", len(wanted))
    lost = [
        quote for quote in wanted if quote not in new.text and quote_match.find_quote(quote, new.text) is None
    ]
    return SourceCheck(old.url, "lost" if lost else "stands", len(wanted), lost)


def _list_quoted_pages(found: BundleVerification) -> Iterator[tuple[Page, list[str]]]:
    if found.contents is None or found.state is None:
        return
    answer = found.state.answer
    cited = [
        (source.page_id, quote) for source in (answer.sources if answer else ()) for quote in source.quotes
    ]
    kept = [
        (fact.page_id, fact.quote)
        for fact in found.state.facts.values()
        if _claims_quote(fact) and fact.decision != "struck"
    ]
    for name, page in found.contents.pages.items():
        wanted = list(dict.fromkeys(quote for page_id, quote in (*cited, *kept) if page_id == name))
        if wanted and canonicalize(page.url):
            yield page, wanted


def _claims_quote(fact: Fact) -> bool:
    """Does the fact say of itself that its quote stands in a page?"""
    return fact.verified and fact.origin in ("page", "prior_turn") and bool(fact.page_id)


def _has_quote_in_page(fact: Fact, contents: BundleContents) -> bool:
    page = contents.pages.get(fact.page_id)
    return (
        page is not None
        and fact.sha256 == page.sha256
        and 0 <= fact.start < fact.end
        and page.text[fact.start : fact.end] == fact.quote
    )


def _check_pages(contents: BundleContents) -> list[str]:
    told = [f"the text of a page is not in it: {name[:40]}" for name in contents.missing]
    for name, page in contents.pages.items():
        if sha256(page.text.encode()) != page.sha256:
            told.append(f"the text of {page.url[:200]} is not the one that was read (its SHA-256 is another)")
        elif page_to_row(page.model_copy(update={"raw": b""}))["id"] != name:
            told.append(f"the page {name[:40]} is not the one its address and text make")
    return told


def _check_ledger(contents: BundleContents, state: RunState) -> list[str]:
    run, asked = contents.run, contents.steps[0].change
    told = []
    if list(contents.facts) != list(state.facts.values()):
        told.append("facts.json does not tell the facts that the steps make")
    if not all(
        map(
            _is_time,
            (
                run.created_at,
                run.updated_at,
                *(step.at for step in contents.steps),
                *(call.at for call in contents.calls),
            ),
        )
    ):
        told.append("a time of its run, its steps or its calls is none")
    if run.steps != contents.steps[-1].n or asked.get("question") != run.question:
        told.append("run.json does not tell the run that the steps make")
    set_by = [
        step.change["settings"] for step in contents.steps if "settings" in step.change
    ]  # an import may set them again
    if set_by and _parse_settings(set_by[-1]) != run.settings:
        told.append("run.json tells other settings than the run was started with")
    summary = state.summary()
    if (
        summary.get("verdict", run.verdict) != run.verdict
        or summary.get("confidence", run.confidence) != run.confidence
    ):
        told.append("run.json tells another verdict or confidence than the steps make")
    forks = [step.n - 1 for step in contents.steps if step.name == "fork"]
    if (run.forked_at if run.forked_from else -1) != (forks[-1] if forks else -1):
        told.append(
            "run.json tells another beginning than the steps do: where it was forked from another run"
        )
    if any(call.run_id != run.id for call in contents.calls):
        told.append("calls.jsonl holds a call of another run")
    return told


def _is_time(text: str) -> bool:
    """Is it a time in ISO 8601, or not told?"""
    try:
        return not text or bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _parse_settings(given: object) -> Settings | None:
    try:
        return Settings.model_validate(given)
    except ValidationError:
        return None


def _check_quotes(facts: Sequence[Fact], standing: Sequence[Fact]) -> list[str]:
    good = {fact.id for fact in standing}
    return [
        f"a quote does not stand in its page: “{fact.quote[:120]}” ({fact.url[:120]})"
        for fact in facts
        if fact.id not in good
    ]


def _check_answers(contents: BundleContents, state: RunState) -> list[str]:
    """Every quote an answer shows must stand in the page it is shown for, and what it calls backed be so by
    the facts of then."""
    told = []
    for answer in state.answers:
        for source in answer.sources:
            page = contents.pages.get(source.page_id)
            shown = source.quotes if source.page_id else ()
            told += [
                f"the answer shows a quote that does not stand in its page: “{q[:120]}”"
                for q in shown
                if page is None or q not in page.text
            ]
        known = {fact_id for source in answer.sources for fact_id in source.fact_ids}
        bare = [s.text for s in answer.sentences if s.backed and not known.intersection(s.fact_ids)]
        told += [f"a statement is called backed but cites nothing: “{text[:120]}”" for text in bare]
    return [
        *told,
        *recheck_answers.find_answer_problems(FLOWS[contents.run.settings.flow].new_state(), contents.steps),
    ]  # type: ignore[arg-type]


def _check_usage(contents: BundleContents) -> list[str]:
    """Is what the run is said to have spent what its calls and steps cost?"""
    calls, steps, said = contents.calls, contents.steps, contents.usage
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    counted = (
        len(calls),
        sum(call.prompt_tokens for call in calls),
        sum(call.completion_tokens for call in calls),
    )
    cost = sum(costs) if len(costs) == len(calls) else None
    same = (said.llm_calls, said.prompt_tokens, said.completion_tokens) == counted and (
        said.cost_usd is None
    ) == (cost is None)
    timed = isclose(said.seconds, sum(step.seconds for step in steps), abs_tol=0.02)
    worked = isclose(said.cpu_seconds, sum(step.cpu_ms for step in steps) / 1000, abs_tol=0.002)
    if same and timed and worked and isclose(said.cost_usd or 0.0, cost or 0.0, abs_tol=1e-6):
        return []
    return ["run.json tells another usage than its calls and steps make"]


def _list_remarks(standing: Sequence[Fact], contents: BundleContents) -> list[str]:
    beyond = [
        f
        for f in standing
        if f.by != "person"
        and not quote_match.verify_quote(f, contents.pages[f.page_id].text, f.sha256).verified
    ]
    told = (
        [f"{len(beyond)} of its facts say more than their quotes do, by the rules of this version"]
        if beyond
        else []
    )
    if contents.run.imported:
        told.append("the run had itself been imported from a bundle")
    return told
