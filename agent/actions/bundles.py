"""Verification of a bundle: its bytes, hashes, ledger and quotes, all computed again; what its sources say
today; and its import as a run, stored as it is, at rest and marked as imported.

Nothing is trusted except that the bundle is the one you were given: its SHA-256 is reported for comparison.
Verification stores nothing. The pages of an imported run stay out of the library until they are fetched
here; one that would go on rests until a person resumes it, within the limits that can be set here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, takewhile, zip_longest
from math import isclose
from string import hexdigits
from typing import Any

from pydantic import ValidationError

from agent.actions import validation
from agent.actions.commit import ActionContext
from agent.answering import recheck_answers
from agent.engine.run_state import RunState
from agent.engine.state import to_jsonable
from agent.errors import BundleError, UsageError
from agent.evidence.citation_check import has_page_support, is_written_by_rule, verify_fact
from agent.evidence.quote_match import has_quote
from agent.export import bundle
from agent.export.archive import sha256
from agent.export.bundle import BundleContents
from agent.export.hiding import is_withheld
from agent.flows import FLOWS
from agent.flows.verify_again.state import QuoteStanding
from agent.flows.verify_again.steps import compare, make_quotes
from agent.llm.structured_call import compute_call_key
from agent.retrieval.answer import describe_row
from agent.retrieval.passages import MAX_TEXT_CHARS, split_passages
from agent.roles.check_claims import CHECK_CLAIMS
from agent.store.ledger import new_id, utc_timestamp
from agent.store.pages import make_page_id
from agent.text.normalization import ELLIPSIS, normalize_text
from agent.text.plurals import clip
from agent.text.sentences import LIST_MARK
from agent.text.urls import canonicalize
from agent.types import Answer, Fact, ModelCall, Page, Passage, Refusal, Settings, Status, Step
from agent.types.facts import QUOTE_JOINT
from agent.web.world import World

MAX_LISTED_PROBLEMS = 20


@dataclass(frozen=True)
class BundleVerification:
    """The result. A bundle without `problems` is valid; `remarks` are no problems."""

    sha256: str
    contents: BundleContents | None
    state: RunState | None
    problems: Sequence[str]
    remarks: Sequence[str]
    quote_count: int
    found_quote_count: int

    @property
    def is_valid(self) -> bool:
        """Is the bundle unchanged, and does everything it says come out again?"""
        return not self.problems

    @property
    def is_importable(self) -> bool:
        """May it be opened as a run here?"""
        return self.is_valid and self.contents is not None and self.contents.version == bundle.VERSION


def verify_bundle(data: bytes) -> BundleVerification:
    """Check everything that can be computed from the bundle alone. Raises nothing, whatever it holds."""
    try:
        contents = bundle.read_bundle(data)
        is_former = contents.version == bundle.FORMER_VERSION
        state, wrong = _read_former(contents) if is_former else (fold_contents(contents), [])
        # the facts as each step gave them: an answer may rest on one that was taken out later
        rows = [step.change["facts"] for step in contents.steps if "facts" in step.change]
        given = bundle.read_records(list[list[Fact]], rows, "steps.jsonl", contents.version)
    except BundleError as error:
        return BundleVerification(sha256(data), None, None, [str(error)], [], 0, 0)
    facts = [fact for fact in state.facts.values() if _claims_quote(fact)]
    found = [fact for fact in facts if _is_in_page(fact, contents)]
    known = {fact.id for fact in found}
    told = [fact for fact in chain(*given) if _claims_quote(fact) and not is_withheld(fact.quote)]
    lost = [fact for fact in facts if fact.id not in known]
    lost += [fact for fact in told if not _is_in_page(fact, contents)]
    quotes = {(fact.page_id, fact.quote): fact for fact in lost}.values()
    problems = [
        *_check_pages(contents, state),
        *_check_ledger(contents, state),
        *(f"a quote is not in its page: “{clip(fact.quote)}” ({clip(fact.url)})" for fact in quotes),
        *_check_answers(contents, state),
        *_check_usage(contents),
        *_check_wording(told, contents),
        *wrong,
    ]
    if not is_former:
        told = state.summary()["confidence"]
        if told != contents.run.confidence and not _has_former_fields(contents):
            problems.append("run.json holds another confidence than the steps make")
        fresh = FLOWS[contents.run.settings.flow].fold_steps([])
        problems += recheck_answers.find_answer_problems(fresh, contents.steps)
    if len(problems) > MAX_LISTED_PROBLEMS:
        problems = [*problems[:MAX_LISTED_PROBLEMS], f"and {len(problems) - MAX_LISTED_PROBLEMS} more"]
    remarks = list(_list_remarks(found, contents))
    return BundleVerification(sha256(data), contents, state, problems, remarks, len(facts), len(found))


def fold_contents(contents: BundleContents) -> RunState:
    """The state that the steps make. Raises BundleError when they make none."""
    flow = FLOWS.get(contents.run.settings.flow)
    if flow is None:
        name = clip(contents.run.settings.flow)
        raise BundleError(f"it is a run of the flow {name!r}, which this Touchstone does not have")
    if not contents.steps or [step.n for step in contents.steps] != list(range(len(contents.steps))):
        raise BundleError("its steps are not numbered one after the other from 0")
    last = contents.steps[-1].next
    if last not in flow.steps and last not in flow.rest_statuses:
        raise BundleError("its last step leads to a step that its flow does not have")
    try:
        return flow.fold_steps(contents.steps)
    except (ValidationError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise BundleError(
            "its steps do not make a valid state: a newer version wrote it, or it was edited"
        ) from error


def _read_former(contents: BundleContents) -> tuple[RunState, list[str]]:
    """Of a bundle of the former version the facts and answers that its steps recorded, and what is wrong with
    the answers over the facts given up to them. Raises BundleError, also for what no former version wrote."""
    facts: dict[str, Any] = {}
    given: dict[str, Fact] = {}
    problems: list[str] = []
    flow = FLOWS.get(contents.run.settings.flow)
    state, fresh = RunState(), flow.fold_steps([]) if flow else RunState()
    fresh.question = fresh.asked = contents.run.question
    try:
        for step in contents.steps:
            facts |= {fact["id"]: fact for fact in step.change.get("facts", ())}
            new = bundle.read_records(
                list[Fact], step.change.get("facts", []), "steps.jsonl", contents.version
            )
            given |= {fact.id: fact for fact in new}
            for name in step.change.get("-facts", ()):
                facts.pop(name, None)
            fresh.asked = str(step.change.get("asked", fresh.asked))
            answers = step.change.get("answers", [])
            has_role = any("role" in block for answer in answers for block in answer.get("blocks", ()))
            if has_role or step.change.keys() & {"rulings", "assessments", "strikes"}:
                raise BundleError("it is named a bundle of the former version, and its steps are of this one")
            for answer in bundle.read_records(list[Answer], answers, "steps.jsonl", contents.version):
                state.answers.append(answer)
                problems += recheck_answers.find_former_problems(answer, fresh, [*given.values()])
    except (KeyError, TypeError, AttributeError) as error:
        raise BundleError("its steps hold facts or answers that are not as they should be") from error
    state.facts = bundle.read_records(dict[str, Fact], facts, "steps.jsonl", contents.version)
    return state, problems


def refetch_sources(
    found: BundleVerification, world: World, watch: Callable[[Fact, QuoteStanding], None] = lambda *_: None
) -> list[tuple[Fact, QuoteStanding]]:
    """How each quote of a usable fact or of the answer stands on its page today; `watch` gets each."""
    told = list[tuple[Fact, QuoteStanding]]()
    if found.contents is None or found.state is None:
        return told
    quotes_of: dict[str, dict[str, None]] = {}
    for source in found.state.answer.sources if found.state.answer else ():
        quotes_of.setdefault(source.page_id, {}).update(dict.fromkeys(source.quotes))
    for fact in found.state.facts.values():
        if _claims_quote(fact) and fact.decision != "struck":
            quotes_of.setdefault(fact.page_id, {})[fact.quote] = None
    for page_id, page in found.contents.pages.items():
        if quotes_of.get(page_id) and canonicalize(page.url):
            now = world.fetch(page.url)
            for fact in make_quotes(page, page_id, quotes_of[page_id]).values():
                told.append((fact, compare(fact, now, "")))
                watch(*told[-1])
    return told


def _is_in_page(fact: Fact, contents: BundleContents) -> bool:
    """Does its quote stand in its page, where it says?"""
    page = contents.pages.get(fact.page_id)
    is_same = page is not None and fact.sha256 == page.sha256 and bool(fact.places)
    return page is not None and is_same and fact.read_quote(page.text) == fact.quote


def _claims_quote(fact: Fact) -> bool:
    """Does the fact say that its quote is in a page?"""
    return has_page_support(fact) and bool(fact.page_id)


def _check_pages(contents: BundleContents, state: RunState) -> Iterator[str]:
    named = {page.page_id for page in state.pages.values()} - {"", *contents.pages}
    for page_id in sorted({*named, *contents.missing}):
        yield f"the text of a page is missing: {clip(page_id)}"
    for page_id, page in contents.pages.items():
        if sha256(page.text.encode()) != page.sha256:
            yield f"the text of {clip(page.url)} is not the one that was read (its SHA-256 differs)"
        elif make_page_id(page) != page_id:
            yield f"the page {clip(page_id)} does not belong to its address and text"


def _check_ledger(contents: BundleContents, state: RunState) -> Iterator[str]:
    run, steps = contents.run, contents.steps
    facts = zip_longest(contents.facts, state.facts.values(), fillvalue=Fact(id="", statement="", quote=""))
    # the mark of a dispute is derived, by the rules of this version
    if any(told.replace(disputed=False) != made.replace(disputed=False) for told, made in facts):
        yield "facts.json does not hold the facts that the steps make"
    times = [run.created_at, run.updated_at, *(step.at for step in steps), *(c.at for c in contents.calls)]
    try:
        for time in filter(None, times):
            datetime.fromisoformat(time)
    except ValueError:
        yield "a time of its run, its steps or its calls is not valid"
    settings = [step.change["settings"] for step in steps if "settings" in step.change]
    try:
        last = bundle.read_records(list[Settings], settings[-1:], "steps.jsonl", contents.version)
        is_same = all(told.replace(served_by="") == run.settings.replace(served_by="") for told in last)
    except BundleError:
        is_same = False
    if not is_same:
        yield "run.json holds other settings than the steps"
    if state.summary()["verdict"] != run.verdict:
        yield "run.json holds another verdict than the steps make"
    if run.steps != steps[-1].n or steps[0].change.get("question") != run.question:
        yield "run.json does not describe the run that the steps make"
    forks = [step.n - 1 for step in steps if step.name == "fork"]
    if (run.forked_at if run.forked_from else -1) != (forks[-1] if forks else -1):
        yield "run.json names another branching point than the steps"
    if any(call.run_id != run.id for call in contents.calls):
        yield "calls.jsonl holds a call of another run"


def _has_former_fields(contents: BundleContents) -> bool:
    """Did a version that weighed confidence otherwise record its steps?"""
    answers = (answer for step in contents.steps for answer in step.change.get("answers", ()))
    given = (one for step in contents.steps for one in step.change.get("assessments", ()))
    return any("inconsistency" in one for one in given) or any(
        "fit" in said for answer in answers for said in answer["sentences"]
    )


def _check_wording(given: Sequence[Fact], contents: BundleContents) -> Iterator[str]:
    """What code worded by rule, without a model, is what it makes of the quote and its place."""
    passages = dict[str, Sequence[Passage]]()
    for fact in given:
        is_bare = not is_written_by_rule(fact) or fact.by == "code" or is_withheld(fact.statement)
        if is_bare or fact.statement == fact.quote or not _is_in_page(fact, contents):
            continue
        page = contents.pages[fact.page_id]
        if fact.page_id not in passages:
            longest = max(MAX_TEXT_CHARS, len(page.text))
            passages[fact.page_id] = split_passages(page, fact.page_id, longest=longest)
        if not is_rule_statement(fact, page, passages[fact.page_id]):
            yield f"a fact's wording is not its page's: “{clip(fact.statement)}”"


def is_rule_statement(fact: Fact, page: Page, passages: Sequence[Passage]) -> bool:
    """Is the statement of a verified fact the words of its quote in their order (of a long line its beginning
    and "…"), behind the term or line that introduces its passage; a row with its header; or a post's quote
    behind its writer, who is named on the page?"""
    said = normalize_text(fact.statement).words
    who = fact.statement.removesuffix(f": “{fact.quote}”")
    if who != fact.statement and normalize_text(page.text).find_words(normalize_text(who).words):
        return True
    lines = fact.quote.split("\n")
    marks = map(LIST_MARK.match, lines)
    bare = [line[mark.end() if mark else 0 :] for line, mark in zip(lines, marks, strict=True)]
    labels = {"", *(passage.label for passage in passages if fact.quote in passage.text)}
    for label in labels:
        words = normalize_text(label).words
        is_under = said[: len(words)] == words
        if is_under and any(_repeats(said[len(words) :], quoted) for quoted in (lines, bare)):
            return True
        if said == normalize_text(describe_row(label, fact.quote)).words:
            return True
    return False


def _repeats(said: list[str], quoted: Sequence[str]) -> bool:
    """Are these the words of the lines in order? "…" may stand for the end of a line and lines after it."""
    is_cut = False
    for line in filter(None, (normalize_text(text).words for text in quoted)):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(said, line, strict=False)))
        if same:
            is_marked = said[same : same + 1] == [ELLIPSIS]
            is_cut = is_marked or line[same - 1] == ELLIPSIS
            said = said[same + is_marked :]
            if same < len(line) and not is_cut:
                return False
        elif not is_cut:
            return False
    return not said


def _check_answers(contents: BundleContents, state: RunState) -> Iterator[str]:
    """Every quote of an answer is in its page, and every backed statement cites a source."""
    for answer in state.answers:
        for source in answer.sources:
            page = contents.pages.get(source.page_id)
            for quote in source.page_quotes:
                has_joint = QUOTE_JOINT in quote  # it leaves something out: each stretch is on the page
                if page is None or not (quote in page.text or (has_joint and has_quote(quote, page.text))):
                    yield f"the answer shows a quote that is not in its page: “{clip(quote)}”"
        known = {fact_id for source in answer.sources for fact_id in source.fact_ids}
        for sentence in answer.sentences:
            if sentence.backed and not known.intersection(sentence.fact_ids):
                yield f"a statement is marked as backed but cites nothing: “{clip(sentence.text)}”"
    is_judged = contents.run.forked_from or any(call.role == CHECK_CLAIMS.name for call in contents.calls)
    if not is_judged and any(s.check == "judged_supported" for a in state.answers for s in a.sentences):
        yield "a statement is called judged by the model, and no model was asked"


def _check_usage(contents: BundleContents) -> Iterator[str]:
    """The usage in run.json is the sum of the calls and steps."""
    calls, steps, usage = contents.calls, contents.steps, contents.usage
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    cost = sum(costs) if len(costs) == len(calls) else None
    counts = (usage.llm_calls, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd is None)
    tokens_in, tokens_out = (sum(c.prompt_tokens for c in calls), sum(c.completion_tokens for c in calls))
    same = (
        counts == (len(calls), tokens_in, tokens_out, cost is None)
        and isclose(usage.cost_usd or 0.0, cost or 0.0, abs_tol=1e-6)
        and isclose(usage.seconds, sum(step.seconds for step in steps), abs_tol=0.02)
        and isclose(usage.cpu_seconds, sum(step.cpu_ms for step in steps) / 1000, abs_tol=0.002)
    )
    if not same:
        yield "run.json holds another usage than its calls and steps make"


def _list_remarks(found: Sequence[Fact], contents: BundleContents) -> Iterator[str]:
    unsupported = [
        fact
        for fact in found
        if fact.by not in ("person", "code")
        and not fact.former
        and verify_fact(fact, contents.pages[fact.page_id].text, fact.sha256).statement != fact.statement
    ]
    if unsupported:
        yield f"by the rules of this version, {len(unsupported)} of its facts say more than their quotes"
    if any("[withheld: sha256:" in json.dumps(step.change) for step in contents.steps):
        yield "texts that hold a private note are withheld; a hash with a secret salt stands for each"
    if contents.version == bundle.FORMER_VERSION:
        yield (
            "an earlier Touchstone made it: its bytes, pages, quotes, answers and usage are checked, its "
            f"steps are not followed; {bundle.LAST_READER} opens it as a run"
        )
    if contents.version == bundle.VERSION and _has_former_fields(contents):
        yield "an earlier Touchstone made it: its confidence is told as it was, not computed again"
    if contents.run.imported:
        yield "the run had itself been imported from a bundle"


@dataclass(frozen=True)
class ImportedRun:
    """The run's id here, its id in the bundle, and the verification."""

    run_id: str
    original_id: str
    verification: BundleVerification

    @property
    def is_renamed(self) -> bool:
        """Did it get another id, because its own was taken?"""
        return self.run_id != self.original_id


def import_bundle(bench: ActionContext, data: bytes) -> ImportedRun:
    """Import a bundle as a run. Raises BundleError, and stores nothing, when it does not verify or an
    earlier version made it."""
    verified = verify_bundle(data)
    contents, state = verified.contents, verified.state
    if contents is None or state is None or verified.problems:
        problem = verified.problems[0] if verified.problems else "it holds nothing"
        raise BundleError(f"this bundle cannot be imported: {problem}")
    if contents.version == bundle.FORMER_VERSION:
        raise BundleError(
            "this bundle cannot be imported: an earlier Touchstone made it. It verifies (`verify`), and "
            f"{bundle.LAST_READER} opens it as a run"
        )
    flow, last, original = FLOWS[contents.run.settings.flow], contents.steps[-1], contents.run
    settings = validation.clamp_imported_settings(original.settings)
    try:
        validation.check_sources(settings)
    except UsageError as wrong:
        raise BundleError(f"this bundle cannot be imported: {wrong}") from wrong
    refusals: list[Refusal] = []
    if settings.world != original.settings.world:
        what = f"the world {clip(original.settings.world)}"
        why = "it is a folder of another machine: the run uses the live web here"
        refusals.append(Refusal(what=what, why=why, step=last.n + 1))
    if settings != original.settings.replace(world=settings.world):
        why = "they were reduced to the defaults here"
        refusals.append(Refusal(what="the limits of the bundle", why=why, step=last.n + 1))
    change = to_jsonable({"settings": settings, "refusals": refusals}) if refusals else {}
    at = utc_timestamp()
    step = Step(n=last.n + 1, name="import", change=change, next=last.next, by="person", at=at)
    status = original.status
    if status not in (Status.PAUSED, Status.STOPPED, Status.FAILED):
        status = flow.rest_statuses.get(last.next, Status.PAUSED)
    for page in contents.pages.values():
        bench.store.pages.add_if_absent(page)
    columns = {"status": status, "settings": settings, "imported": verified.sha256, "updated_at": step.at}
    run_id, steps, summary = original.id, [*contents.steps, step], state.summary()
    if len(run_id) != len(new_id()) or not set(run_id) <= set(hexdigits.lower()):
        run_id = new_id()
    while not bench.store.ledger.add_if_absent(original.replace(id=run_id, **columns), steps, **summary):
        run_id = new_id()

    def has_own_key(call: ModelCall) -> bool:
        key = compute_call_key(call.run_id, call.step, call.attempt, call.prompt)
        return (call.key, call.run_id) == (key, run_id)

    bench.store.calls.adopt(run_id, contents.calls, keep_key=has_own_key)
    return ImportedRun(run_id, original.id, verified)
