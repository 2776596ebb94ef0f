"""Scores the run of one evaluated question: its answer against the gold answer, its sources and quotes
against the documents of the world. The result is a row for `bench.evaluation.metrics`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from agent.answering.conflict_sentences import CONFLICT_PREFIXES
from agent.engine.run_state import RunState
from agent.text.urls import canonicalize
from agent.types import Answer
from agent.workbench import RunSnapshot, Workbench
from bench.evaluation import metrics

RECALL_AT = 5
"""The first sources that count as retrieved."""
CONFLICT_TYPES = ("conflict", "misinfo")
"""Words in the type of a question whose sources disagree."""

Question = dict[str, Any]


def score_run(
    bench: Workbench, view: RunSnapshot, question: Question, urls: dict[str, str]
) -> dict[str, Any]:
    """The scores of a run; `urls` gives the address of each document id."""
    state, answer = view.state, view.state.answer
    return {
        "verdict": answer.verdict if answer else "",
        "reason": answer.reason if answer else "",
        "answer": answer.text if answer else "",
        "confidence": answer.confidence if answer else None,
        "refused": _is_refusal(answer),
        **_score_answer(state, question),
        **_score_support(state, question, urls),
        **_score_evidence(bench, view, question, set(map(canonicalize, urls.values()))),
        **_score_conflict(bench, view, question, urls),
        "unsupported_statements": answer.statements.unsupported if answer else 0,
        "pages": state.pages_read_count,
        "steps": len(state.actions),
        "llm_calls": view.usage.llm_calls,
        "prompt_tokens": view.usage.prompt_tokens,
        "step_cpu_ms": [step.cpu_ms for step in view.steps if step.cpu_ms],
    }


def _is_refusal(answer: Answer | None) -> bool:
    return answer is not None and answer.verdict == "no_evidence" and answer.reason != "budget"


def _texts(values: Iterable[Any]) -> list[str]:
    return [str(value) for value in values]


def _score_answer(state: RunState[Any], question: Question) -> dict[str, Any]:
    """The answer and the facts against the gold answers; None where the question has none."""
    answer, refused = state.answer, _is_refusal(state.answer)
    text = metrics.trim_answer(answer.text) if answer else ""
    lead = metrics.trim_lead(next((s.text for s in answer.main_sentences), "")) if answer else ""
    golds, every = _texts(question.get("answers", [])), question.get("answer_mode") == "all"
    facts = " \n".join(f"{fact.statement} {fact.quote}" for fact in state.facts.values() if fact.can_support)
    long_gold = question.get("long_answer", "")
    hit = (not refused and metrics.contains_answer(golds, text, every=every)) if golds else None
    is_right = hit if golds or not long_gold else not refused and metrics.covers_answer(long_gold, text)
    return {
        "answer_hit": hit,
        "lead_hit": (not refused and metrics.contains_answer(golds, lead)) if golds else None,
        "right": is_right,
        "fact_hit": metrics.contains_answer(golds, facts, every=every) if golds else None,
        "long_f1": (0.0 if refused else metrics.token_f1(text, long_gold)) if long_gold else None,
        "answer_words": len(text.split()),
    }


def _score_support(state: RunState[Any], question: Question, urls: dict[str, str]) -> dict[str, Any]:
    """The share of the supporting documents that was read; in a chat, also that was retrieved."""
    wanted = _to_urls(question.get("supporting_ids", []), urls)
    if not wanted:
        return {"support_recall": None, "all_support": None}
    read = {
        canonicalize(url)
        for page in state.pages.values()
        if page.page_id
        for url in (page.url, page.final_url)
    }
    found = {"support_recall": _share(wanted, read), "all_support": all(url in read for url in wanted)}
    if state.settings.flow != "chat":
        return found
    first = list(dict.fromkeys(canonicalize(doc.url) for doc in state.own.retrieved_docs))[:RECALL_AT]
    return {
        **found,
        "retrieval_recall_at_5": _share(wanted, first),
        "follow_up": bool(question.get("history")),
    }


def _to_urls(ids: Iterable[str], urls: dict[str, str]) -> list[str]:
    return [canonicalize(urls[name]) for name in ids if name in urls]


def _share(wanted: list[str], found: Collection[str]) -> float:
    return sum(url in found for url in wanted) / len(wanted)


def _score_evidence(
    bench: Workbench, view: RunSnapshot, question: Question, known: set[str]
) -> dict[str, Any]:
    """Checked against the stored pages: quotes that are not in them, sources that are no document of the
    world, conflicts, misinformation that is stated as a fact."""
    answer = view.state.answer
    sources = answer.sources if answer else []
    wrong = question.get("meta", {}).get("wrong_answers", [])
    stated = answer.main_sentences if answer else []
    plain = " ".join(s.text for s in stated if not s.text.startswith(CONFLICT_PREFIXES))
    return {
        "fabricated_quotes": sum(
            quote not in bench.page(source.page_id).text
            for source in sources
            if source.page_id
            for quote in source.quotes
        ),
        "fabricated_urls": sum(canonicalize(source.url) not in known for source in sources),
        "conflict_named": bool(answer and answer.conflicts) if _has_type(question, CONFLICT_TYPES) else None,
        "misinformation_stated": metrics.contains_answer(wrong, metrics.trim_answer(plain))
        if wrong
        else None,
    }


def _sentences(answer: Answer | None) -> list[Any]:
    return list(answer.sentences) if answer else []


def _has_type(question: Question, words: tuple[str, ...]) -> bool:
    return any(word in str(question.get("type", "")) for word in words)


def _score_conflict(
    bench: Workbench, view: RunSnapshot, question: Question, urls: dict[str, str]
) -> dict[str, Any]:
    """Whether the answer names the conflict whose both sides the run read, or names one although the set has
    none.

    A conflict is named by one sentence that says the sources differ and holds a right and a wrong answer."""
    named = [s.text for s in _sentences(view.state.answer) if s.text.startswith(CONFLICT_PREFIXES)]
    golds = _texts(question.get("answers", []))
    wrong = _texts(question.get("meta", {}).get("wrong_answers", []))
    if not wrong and not _has_type(question, (*CONFLICT_TYPES, "ambiguous")):
        return {"conflict_named_falsely": bool(named)}
    if not wrong or not golds or not _has_read_both_sides(bench, view, question, urls):
        return {}
    return {
        "conflict_named_both_read": any(
            metrics.contains_answer(golds, text) and metrics.contains_answer(wrong, text) for text in named
        )
    }


def _has_read_both_sides(
    bench: Workbench, view: RunSnapshot, question: Question, urls: dict[str, str]
) -> bool:
    """Whether the run read a page with a right and another with a wrong answer: by the ids of the set
    (`supporting_ids`, `meta.misinfo_ids`), else by the texts of the pages."""
    pages, meta = [page for page in view.state.pages.values() if page.page_id], question["meta"]
    if "misinfo_ids" in meta:
        wrong = set(_to_urls(meta["misinfo_ids"], urls))
        right = set(_to_urls(question["supporting_ids"], urls)) - wrong
        read = {canonicalize(page.url) for page in pages}
        return bool(read & right) and bool(read & wrong)
    texts = [bench.page(page.page_id).text for page in pages]
    right_at = {
        n for n, text in enumerate(texts) if metrics.contains_answer(_texts(question["answers"]), text)
    }
    wrong_at = {n for n, text in enumerate(texts) if metrics.contains_answer(meta["wrong_answers"], text)}
    return any(n != m for n in right_at for m in wrong_at)
