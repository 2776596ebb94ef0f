"""An answer as plain text for a terminal: sentences with numbers, how it is backed, and the numbered
sources."""

from __future__ import annotations

from agent.types import PAGE_ORIGIN_LABELS, Answer, Source

MAX_QUOTES = 4


def render_plain_text(answer: Answer) -> str:
    """The answer, its backing, and its sources with their quotes (at most QUOTES each)."""
    if answer.is_small_talk:
        return answer.certainty
    if not answer.sentences:
        told = (
            f"No answer ({answer.reason}).",
            answer.certainty,
            _missing(answer),
            answer.remark,
            answer.journey,
        )
        return "\n".join(part for part in told if part)
    said = " ".join(
        f"{s.text}{_citation_marks(s.fact_ids, answer.sources)}{'' if s.backed else ' (unsupported)'}"
        for s in answer.sentences
    )
    counted = answer.statements
    backing = f"{counted.backed} of {counted.backed + counted.unsupported} statements backed"
    lines = [said, "", f"{answer.verdict}, confidence {answer.confidence:.2f}. {backing}."]
    lines += [part for part in (answer.certainty, _missing(answer), answer.remark) if part]
    quoted = [source for source in answer.sources if source.quotes]
    lines += [
        "",
        *(
            f"[{source.n}] {source.title or source.url} — {source.url}{_origin_note(source)}\n{_quotes(source)}"
            for source in quoted
        ),
    ]
    return "\n".join([*lines, "", answer.journey] if answer.journey else lines)


def _quotes(source: Source) -> str:
    return "\n".join(f"    “{quote}”" for quote in source.quotes[:MAX_QUOTES])


def _origin_note(source: Source) -> str:
    return f" ({PAGE_ORIGIN_LABELS[source.given]})" if PAGE_ORIGIN_LABELS[source.given] else ""


def _missing(answer: Answer) -> str:
    return f"Missing: {answer.missing}" if answer.missing else ""


def _citation_marks(fact_ids: list[str], sources: list[Source]) -> str:
    numbers = sorted({source.n for source in sources if set(source.fact_ids) & set(fact_ids)})
    return f" [{', '.join(map(str, numbers))}]" if numbers else ""
