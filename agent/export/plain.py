"""An answer as plain text for a terminal: its numbered sentences, how it is backed, and its sources."""

from __future__ import annotations

from agent.evidence.block_layout import write_block_lines
from agent.evidence.conclusion import conclude
from agent.evidence.support import count_support, label_support, list_checks
from agent.types import PAGE_ORIGIN_LABELS, Answer, Sentence

MAX_QUOTES = 4


def render_plain_text(answer: Answer) -> str:
    """The answer, its backing, and its sources with their quotes (at most MAX_QUOTES each)."""
    if answer.is_small_talk:
        return answer.certainty
    told, notes = conclude(answer).text, [f"Assumed: {answer.assumed}" * bool(answer.assumed), answer.remark]
    if not answer.sentences:
        return "\n".join(filter(None, [told, *notes, answer.journey]))
    lines = list(write_block_lines(answer, lambda sentence: _sentence(sentence, answer)))
    lines += [told, f"{count_support(answer)}."]
    lines += [*(f"  {line}" for line in list_checks(answer)), *filter(None, notes), ""]
    for source in answer.sources:
        if source.quotes:
            origin = PAGE_ORIGIN_LABELS[source.given]
            note = f" ({origin})" if origin else ""
            lines.append(f"[{source.n}] {source.title or source.url} — {source.url}{note}")
            lines += [f"    {source.publication.description}"] if source.publication else []
            lines += [f"    “{quote}”" for quote in source.page_quotes[:MAX_QUOTES]]
    return "\n".join([*lines, "", answer.journey] if answer.journey else lines)


def _sentence(sentence: Sentence, answer: Answer) -> str:
    numbers = answer.citation_numbers(sentence)
    marks = f" [{', '.join(map(str, numbers))}]" if numbers else ""
    label = label_support(sentence)
    return f"{sentence.text}{marks}{f' ({label})' if label else ''}"
