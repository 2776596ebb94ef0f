"""What the API gives of a run, each part made from the run as it may leave: nothing of a private note."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent.actions import acts
from agent.actions.release import release
from agent.engine.snapshots import RunSnapshot
from agent.errors import NotFound
from agent.export.hiding import is_withheld
from agent.export.report import drop_withheld
from agent.flows import STEP_LABELS
from agent.text.plurals import clip
from agent.types import Answer, Record, Run, Settings, Source, Status, Step, Usage
from agent.workbench import Workbench


class RunSummary(Record):
    """A run in a list."""

    id: str
    flow: str
    question: str
    status: Status
    verdict: str
    confidence: float | None
    steps: int
    """The number of its last step."""
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, run: Run) -> RunSummary:
        """That of a row."""
        known = run.model_dump(include=set(cls.model_fields))
        return cls(flow=run.settings.flow, **known)


class PendingAction(Record):
    """An action that waits for a decision."""

    action: str
    query_or_url: str
    why: str


class RunRecord(RunSummary):
    """A run as it is now."""

    activity: str = Field(
        description="what it is doing, in words; empty at rest, or where that may not leave"
    )
    asks: str = Field(description="why it paused to ask, or what it waits for; empty for nothing")
    pending: list[PendingAction] = Field(
        description="the round that waits to be approved, changed or skipped"
    )
    possible: list[str] = Field(description="the acts that are possible now")
    error: str
    usage: Usage
    settings: Settings
    program: str = Field(description="the program that started it; empty where its person did")


class StepEvent(Record):
    """A step of a run, as an event."""

    n: int
    name: str
    label: str
    by: str
    program: str = Field(description="the program that took it for its person; empty for none")
    at: str
    seconds: float

    @classmethod
    def of(cls, step: Step) -> StepEvent:
        """That of a step."""
        label = STEP_LABELS.get(step.name, step.name.replace("_", " "))
        program = step.change.get("program", "")
        known = step.model_dump(include={"n", "name", "by", "at", "seconds"})
        return cls(label=label, program=program, **known)


class AnswerSentence(Record):
    """A sentence of an answer. `sources` are the numbers that it cites."""

    id: str
    text: str
    check: str
    backed: bool
    disputed: str
    sources: list[int]
    fact_ids: list[str]


class AnswerRecord(Record):
    """The newest answer of a run, without what may not leave."""

    run: str
    n: int
    status: Status
    verdict: str
    confidence: float | None
    text: str
    certainty: str
    missing: str
    why_stopped: str
    sentences: list[AnswerSentence]
    sources: list[Source]
    withheld: int = Field(description="the sentences that may not leave: they are from a private note")


class Quote(Record):
    """A quote that a sentence rests on, with what stands around it on the page that was read."""

    fact: str
    statement: str
    quote: str
    before: str
    after: str
    verified: bool = Field(description="whether the quote stands in the stored page, at this place")
    url: str
    title: str
    heading: str
    page: str
    sha256: str = Field(description="of the text of the page, in UTF-8")
    start: int
    end: int
    fetched_at: str


class Evidence(Record):
    """What a sentence of an answer rests on."""

    run: str
    sentence: str
    text: str
    check: str
    check_reason: str
    quotes: list[Quote]


def describe_run(bench: Workbench, view: RunSnapshot) -> RunRecord:
    """A run as it is now. Raises NotFound."""
    shown, _ = release(bench, view.run.id)
    state, pending, halt = shown.state, shown.state.pending, shown.state.halt
    is_asked = view.run.status in (Status.WAITING, Status.PAUSED)
    actions = pending.actions if pending and view.run.status is Status.WAITING else []
    return RunRecord(
        **RunSummary.of(shown.run).model_dump(),
        activity=view.activity if shown.state is view.state else "",
        asks=halt.why if halt and is_asked else "",
        pending=[
            PendingAction(action=one.next_action, query_or_url=one.query_or_url, why=one.reasoning)
            for one in actions
        ],
        possible=[act.name for act in acts.list_possible(view)],
        error=shown.run.error,
        usage=view.usage,
        settings=state.settings,
        program=shown.steps[0].change.get("program", ""),
    )


def read_answer(bench: Workbench, run_id: str) -> AnswerRecord:
    """The newest answer. Raises NotFound while there is none, or nothing of it may leave."""
    view, _ = release(bench, run_id)
    whole = _find_answer(view)
    answer = drop_withheld(whole)
    if answer is None:
        raise NotFound("nothing of this answer may leave: it is from a private note")
    said = [
        AnswerSentence(
            id=f"s{n}",
            sources=whole.citation_numbers(one),
            **one.model_dump(include={"text", "check", "backed", "disputed", "fact_ids"}),
        )
        for n, one in enumerate(whole.sentences, 1)
        if one.text and not is_withheld(one.text)
    ]
    names = {"n", "verdict", "confidence", "text", "certainty", "missing", "why_stopped", "sources"}
    known = {name: getattr(answer, name) for name in names}
    left = len(whole.sentences) - len(said)
    return AnswerRecord(run=run_id, status=view.run.status, sentences=said, withheld=left, **known)


def _find_answer(view: RunSnapshot) -> Answer:
    if view.state.answer is None:
        raise NotFound(f"run {view.run.id} has no answer yet: ask again, with wait=25, for the run")
    return view.state.answer


def read_evidence(bench: Workbench, run_id: str, sentence: str) -> Evidence:
    """What a sentence ("s1" …) rests on. Raises NotFound for none, and for one that may not leave."""
    view, _ = release(bench, run_id)
    answer = _find_answer(view)
    said = {f"s{n}": one for n, one in enumerate(answer.sentences, 1)}.get(sentence)
    if said is None or is_withheld(said.text):
        raise NotFound(
            f"the answer has no sentence {clip(sentence)}: they are s1 to s{len(answer.sentences)}"
        )
    facts = [view.state.facts[name] for name in said.fact_ids if name in view.state.facts]
    pages, _ = bench.store.pages.get_many(fact.page_id for fact in facts if fact.page_id)
    quotes = []
    for fact in facts:
        text = pages[fact.page_id].text if fact.page_id in pages else ""
        places = fact.places if text else []
        start, end = (places[0][0], places[-1][1]) if places else (0, 0)
        known: dict[str, Any] = fact.model_dump(include=set(Quote.model_fields) - {"before", "after"})
        known |= {"fact": fact.id, "page": fact.page_id}
        after = text[end:].partition("\n")[0] if places else ""
        before = text[:start].rpartition("\n")[2]
        quotes.append(Quote(**known, before=before, after=after))
    return Evidence(
        run=run_id,
        sentence=sentence,
        text=said.text,
        check=said.check,
        check_reason=said.check_reason,
        quotes=quotes,
    )
