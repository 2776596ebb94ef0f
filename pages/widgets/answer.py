"""The answer card: sentences with numbered sources whose quote is one click away, how well they are backed, and what changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.evidence import answers
from agent.types import GIVEN, Answer, Fact, Sentence, Source
from agent.wording import counted
from pages.widgets import chips, safe, words

CHANGED = {"added": "New", "removed": "Gone", "reworded": "Reworded", "resourced": "Other sources"}


def draw(given: Sequence[Answer], facts: dict[str, Fact], run_id: str) -> None:
    """The newest answer; what changed since the former one stands below it."""
    newest = given[-1]
    st.html(card(newest, facts, run_id, editable=True))
    since(given)
    if newest.journey:
        with st.expander("How it was found", icon=":material/route:", key="research-story"):
            st.text(newest.journey)


def since(given: Sequence[Answer]) -> None:
    """What changed from the former answer to the newest, and why it was written anew; nothing for a first one."""
    if len(given) > 1:
        with st.expander(f"What changed since answer {given[-2].n}", expanded=True, icon=":material/difference:", key="research-changes"):
            st.html(changes(given[-2], given[-1]))


def card(answer: Answer, facts: dict[str, Fact], run_id: str, *, editable: bool = False) -> str:
    """The answer as HTML; with a way from each quote to the fact behind it when that can be edited."""
    numbers = answer.statements
    total = numbers.backed + numbers.unsupported
    whole = numbers.unsupported == 0 and total > 0
    marks = [
        (words.VERDICT[answer.verdict], words.VERDICT_TONE[answer.verdict]),
        (f"confidence {words.percent(answer.confidence)}", ""),
        (backing(answer), "good" if whole else "warn" if total else ""),
        ("written by the model" if answer.by == "model" else "written without a model: quoted sentences", ""),
    ]
    if numbers.dropped:
        marks.append((counted(numbers.dropped, "citation") + " dropped: resolved to nothing", "warn"))
    body = " ".join(_sentence(sentence, answer.sources, facts, run_id, editable=editable) for sentence in answer.sentences)
    lines = [
        _line(words.REASON.get(answer.reason, "")),
        _line(answer.certainty, "Certainty"),
        _line(answer.missing, "What is missing"),
        _line(answer.why_stopped, "Why it stopped here"),
        _line(answer.because, "Written anew"),
        _line(answer.remark),
    ]
    said = f'<div class="answer">{body}</div>' if body else ""
    left = f'<div>{said}<div class="lines">{"".join(lines)}</div></div>'
    return (
        f'<div class="ts"><div class="chips">{chips.row(marks)}</div><div class="answer-grid">{left}'
        f"<div>{_sources(answer.sources, run_id)}</div></div></div>"
    )


def backing(answer: Answer) -> str:
    """How many of its statements stand on a page, in words."""
    numbers = answer.statements
    total = numbers.backed + numbers.unsupported
    return f"{numbers.backed} of {counted(total, 'statement')} backed by a page" if total else "no statement is made"


def _line(text: str, name: str = "") -> str:
    label = f'<span class="soft">{name}:</span> ' if name else ""
    return f"<p>{label}{safe.html(text)}</p>" if text else ""


def _sentence(sentence: Sentence, sources: Sequence[Source], facts: dict[str, Fact], run_id: str, *, editable: bool) -> str:
    text = safe.html(sentence.text)
    if not sentence.backed:
        mine = bool(sentence.fact_ids) and all(i in facts and facts[i].own for i in sentence.fact_ids)
        mark = chips.one("your own knowledge") if mine else chips.one("not backed by a page", "bad")
        text = f'<span class="{"mine" if mine else "unbacked"}">{text}</span> {mark}'
    cited = [source for source in sources if set(sentence.fact_ids) & set(source.fact_ids)]
    return text + "".join(_cite(source, sentence, run_id, editable=editable) for source in cited)


def _cite(source: Source, sentence: Sentence, run_id: str, *, editable: bool) -> str:
    """A numbered mark that opens to the very words this sentence stands on, and leads to each fact behind it."""
    meant = [(quote, name) for quote, name in zip(source.quotes, source.fact_ids, strict=False) if name in sentence.fact_ids]
    quotes = "".join(f'<div class="quote">{safe.html(quote)}</div>{_way(name, run_id) if editable else ""}' for quote, name in meant)
    chosen = meant[0][1] if meant else ""
    return (
        f'<details class="cite"><summary aria-label="Source {source.n}: show the quote" title="Show the quote">{source.n}</summary>'
        f"<div>{quotes}{_origin(source, run_id, chosen)}</div></details>"
    )


def _way(fact_id: str, run_id: str) -> str:
    return f'<div class="small"><a href="{safe.focused(run_id, fact_id)}" target="_self">Pin, strike or correct this fact</a></div>'


def _origin(source: Source, run_id: str, fact_id: str = "") -> str:
    opens = f' · <a href="{safe.stored(run_id, source.page_id, fact_id)}" target="_blank">stored page</a>' if source.page_id else ""
    read = f" · read {words.when(source.fetched_at)}" if source.fetched_at else ""
    came = f' · <b>{GIVEN[source.given]}</b>' if GIVEN[source.given] else ""
    place = f" · {safe.html(safe.host(source.url))}" if source.url else ""
    return f'<div class="small soft">{safe.link(source.url, source.title or safe.address(source.url))}{came}{place}{read}{opens}</div>'


def _came(source: Source) -> str:
    return f" {chips.one(GIVEN[source.given], 'warn')}" if GIVEN[source.given] else ""


def _sources(sources: Sequence[Source], run_id: str) -> str:
    if not sources:
        return ""
    items = "".join(
        f'<li><details><summary><span class="n">{source.n}</span>{safe.html(source.title or safe.address(source.url))} '
        f'<span class="soft">{safe.html(safe.host(source.url)) if source.url else ""}</span>{_came(source)}</summary>'
        + "".join(f'<div class="quote">{safe.html(quote)}</div>' for quote in source.quotes)
        + f"{_origin(source, run_id, source.fact_ids[0] if source.fact_ids else '')}</details></li>"
        for source in sources
    )
    return f'<h3 class="ts-section">Sources</h3><ul class="sources">{items}</ul>'


def changes(old: Answer, new: Answer) -> str:
    """The difference between two answers as an HTML list."""
    found = answers.difference(old, new)
    items = []
    for change in found:
        if change.kind == "same":
            continue
        before = f"<del>{safe.html(change.old.text)}</del> " if change.old and change.kind in ("removed", "reworded") else ""
        after = safe.html(change.new.text) if change.new else ""
        items.append(f'<li class="{change.kind}">{chips.one(CHANGED[change.kind])} {before}{after}</li>')
    same = sum(change.kind == "same" for change in found)
    kept = f'<p class="small soft">{counted(same, "sentence")} unchanged.</p>' if same else ""
    was, now = (f"{words.VERDICT[a.verdict]}, confidence {words.percent(a.confidence)}" for a in (old, new))
    verdict = f"<p>Before: {was}. Now: {now}.</p>" if was != now else ""
    nothing = "" if items else "<p>The answer says the same.</p>"
    why = f'<p class="small">Written anew {safe.html(new.because)}.</p>' if new.because else ""
    return f'<div class="ts">{why}{verdict}{nothing}<ul class="changes">{"".join(items)}</ul>{kept}</div>'
