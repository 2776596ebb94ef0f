"""A run as one JSON object, the command line's `--json`. The keys are a promise; values are plain JSON."""

from __future__ import annotations

from typing import Any

from agent.evidence.conclusion import conclude
from agent.export.report import Report
from agent.llm.recorded import LABEL, RECORDED
from agent.types import StatementCounts


def build_run_record(report: Report) -> dict[str, Any]:
    """The object; without an answer `no_evidence`, and the error as `answer`. Citations look like "[1]"."""
    run, answer = report.run, report.answer
    verdict = {"verdict": "no_evidence", "confidence": None, "answer": run.error, "reason": "none"}
    if answer:
        said = (
            s.text + "".join(f" [{n}]" for n in answer.citation_numbers(s)) for s in answer.main_sentences
        )
        verdict |= answer.model_dump(mode="json", include={"verdict", "confidence", "reason"})
        verdict["answer"] = " ".join(said) or answer.certainty
    shown = {"url", "outcome", "found_on", "step"}
    return {
        "run": run.id,
        "question": run.question,
        "status": str(run.status),
        **verdict,
        "statements": (answer.statements if answer else StatementCounts()).model_dump(mode="json"),
        "sources": [
            {
                "n": source.n,
                "url": source.url,
                "title": source.title,
                "quote": next(iter(source.page_quotes), ""),
                "quotes": source.page_quotes,
                **({"given": source.given} if source.given != "fetched" else {}),
                **({"publication": source.publication.model_dump()} if source.publication else {}),
            }
            for source in (answer.sources if answer else ())
        ],
        "steps": _steps(report),
        "facts": [fact.model_dump(mode="json") for fact in report.facts],
        "pages": [  # how a text came only where a person gave it
            page.model_dump(mode="json", include=shown | ({"origin"} if page.origin != "fetched" else set()))
            for page in report.pages
        ],
        "usage": report.usage.model_dump(mode="json"),
        "world": run.settings.world,
        **({"model": LABEL} if run.settings.model == RECORDED else {}),
        **({"forked_from": run.forked_from, "forked_at": run.forked_at} if run.forked_from else {}),
        "chosen_sources": {
            "allowed": run.settings.allowed_domains,
            "blocked": run.settings.blocked_domains,
            "dated": run.settings.dated_only,
            **run.settings.model_dump(include={"since", "before", "language", "engines"}),
        },
        **(answer.model_dump(mode="json", include=DETAILS) if answer else {}),
        **({"conclusion": conclude(answer).text} if answer else {}),
        "struck_sources": list(report.struck_sources),
        "confidence_curve": [level.model_dump(mode="json") for level in report.confidence],
        **{name: [row.model_dump(mode="json") for row in getattr(report, name)] for name in LISTS},
    }


DETAILS = set(
    "certainty missing assumed journey why_stopped because sentences parts title length blocks".split()
)
"""What a reader may check of an answer: the sentences with their backing, gaps, why the run stopped."""
LISTS = ("conflicts", "plan", "refusals", "blockages", "notes", "readings", "edits")


def _steps(report: Report) -> list[dict[str, Any]]:
    """The steps without their changes, each with its tool actions, if any: the first in `action`, those of
    the same round in `beside`.

    An action belongs to the first step that reports it: its own number, less the steps of a person since."""
    actions: dict[int, list[dict[str, Any]]] = {}
    for action in report.actions:
        actions.setdefault(action.step, []).append(action.model_dump(mode="json", exclude={"step"}))
    records = []
    for step in report.steps:
        number = next((action["step"] for action in step.change.get("actions", ())), None)
        made = actions.pop(number, []) if number is not None else []
        record = step.model_dump(mode="json", exclude={"change"})
        record |= {"program": step.change["program"]} if "program" in step.change else {}
        record |= {"action": made[0]} if made else {}
        records.append(record | ({"beside": made[1:]} if made[1:] else {}))
    return records
