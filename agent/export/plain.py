"""An answer as plain text for a terminal: sentences with numbers, without a model as leads and passages; how
it is backed, and the numbered sources."""

from __future__ import annotations

from agent.evidence.answer_layout import UNJUDGED_NOTE, label_passage, lay_out
from agent.evidence.block_layout import write_block_lines
from agent.evidence.support import count_support, label_support, list_checks
from agent.text.plurals import format_count, format_percent
from agent.types import PAGE_ORIGIN_LABELS, Answer, Sentence, Source

MAX_QUOTES = 4


def render_plain_text(answer: Answer) -> str:
    """The answer, its backing, and its sources with their quotes (at most MAX_QUOTES each)."""
    if answer.is_small_talk:
        return answer.certainty
    unjudged = UNJUDGED_NOTE if answer.verdict == "passages_found" else ""
    missing = f"Missing: {answer.missing}" if answer.missing else ""
    notes = [answer.certainty, unjudged, missing, answer.remark]
    if not answer.sentences:
        lines = [f"No answer ({answer.reason}).", *notes, answer.journey]
        return "\n".join(line for line in lines if line)
    verdict = answer.verdict.replace("_", " ")
    figures = f"{verdict}, confidence {format_percent(answer.confidence)}. {count_support(answer)}."
    lines = [*_list_lines(answer), "", figures]
    lines += [*(f"  {line}" for line in list_checks(answer)), *filter(None, notes), ""]
    lines += [_source(source) for source in answer.sources if source.quotes]
    return "\n".join([*lines, "", answer.journey] if answer.journey else lines)


def _list_lines(answer: Answer) -> list[str]:
    """The lines of an answer: running text, a list of quotes, or part by part a lead and its passages."""
    if answer.blocks:
        return list(write_block_lines(answer, lambda sentence: _sentence(sentence, answer)))
    layout = lay_out(answer)
    if layout is None:
        told = [_sentence(sentence, answer) for sentence in answer.sentences]
        is_list = answer.by == "keyless" and len(told) > 1
        return [f"- {line}" for line in told] if is_list else [" ".join(told)]
    lines = [_sentence(sentence, answer) for sentence in layout.opening]
    for part in layout.parts:
        lines += ["", part.question] if part.question else []
        lines += [_sentence(lead, answer) for lead in part.leads]
        lines += [f"- {_passage(passage, answer)}" for passage in part.passages]
        lines += [part.gap] if part.gap else []
    lines += ["", *(_sentence(sentence, answer) for sentence in layout.closing)] if layout.closing else []
    if layout.others:
        more = format_count(len(layout.others), "more quote")
        lines += ["", f"Also found: {more}, among the sources below and in every export."]
    return lines[1:] if lines and not lines[0] else lines


def _passage(sentence: Sentence, answer: Answer) -> str:
    label = label_passage(answer, sentence)
    return f"{f'{label}: ' if label else ''}{_sentence(sentence, answer)}"


def _sentence(sentence: Sentence, answer: Answer) -> str:
    numbers = answer.citation_numbers(sentence)
    marks = f" [{', '.join(map(str, numbers))}]" if numbers else ""
    label = label_support(sentence)
    return f"{sentence.text}{marks}{f' ({label})' if label else ''}"


def _source(source: Source) -> str:
    origin = PAGE_ORIGIN_LABELS[source.given]
    quotes = "\n".join(f"    “{quote}”" for quote in source.quotes[:MAX_QUOTES])
    note = f" ({origin})" if origin else ""
    note += f"\n    {source.publication.description}" if source.publication else ""
    return f"[{source.n}] {source.title or source.url} — {source.url}{note}\n{quotes}"
