"""What stands beside the answer: the evidence of what was opened in it, else the lists of the run (sources,
facts, conflicts, plan, activity)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from agent.actions import acts
from agent.errors import NotFound
from agent.evidence.support import describe_support
from agent.text.urls import site
from agent.types import PAGE_ORIGIN_LABELS, Answer, Conflict, Fact, Sentence, Source
from agent.workbench import RunSnapshot
from pages.widgets.evidence import conflict_list, fact_card, page_text
from pages.widgets.research import revision_panel
from pages.widgets.run import answer_pane
from pages.widgets.shell import client, escape, labels, ui

Tab = Callable[[RunSnapshot], None]


def draw(
    view: RunSnapshot,
    tabs: Mapping[str, Tab],
    key: str,
    draw_opened: Callable[[str], bool] | None = None,
) -> None:
    """The evidence of what is open, by `draw_opened` where it is no sentence of an answer; the tabs
    otherwise."""
    with st.container(key="pane-evidence"):
        if (draw_opened or _draw_opened)(st.query_params.get(answer_pane.SEE, "")):
            return
        counts = _count(view)
        # by style: with another label the tabs would be built anew, and the first one opened
        rules = "".join(
            f'.st-key-{key} [role="tab"]:nth-of-type({n}) p::after {{ content: " {counts[name]}" }}'
            for n, name in enumerate(tabs, 1)
            if counts.get(name)
        )
        st.html(f"<style>{rules}</style>")
        opened = st.tabs(list(tabs), key=key, on_change="rerun")
        for draw_tab, tab in zip(tabs.values(), opened, strict=True):
            if tab.open:
                with tab:
                    draw_tab(view)


def _draw_opened(see: str) -> bool:
    """The evidence of the sentence that the address names; False where it names none."""
    run_id, number, source = answer_pane.find_opened(see)
    if not run_id:
        return False
    try:
        view = client.workbench().snapshot(run_id)
    except NotFound:
        return False
    answer = view.state.answers[-1] if view.state.answers else None
    if answer is None or not 0 < number <= len(answer.sentences):
        return False
    _draw_sentence(view, answer, number, source)
    return True


def _count(view: RunSnapshot) -> dict[str, int]:
    """How much the lists hold."""
    state = view.state
    return {
        "Sources": len({site(page.final_url or page.url) for page in state.pages.values() if page.page_id}),
        "Facts": sum(fact.decision != "struck" for fact in state.facts.values()),
        "Conflicts": sum(conflict.status == "open" for conflict in state.conflicts.values()),
    }


def _draw_sentence(view: RunSnapshot, answer: Answer, n: int, number: int) -> None:
    """What one sentence stands on (its source `number` first), who checked it, and what a person may do."""
    said = answer.sentences[n - 1]
    draw_head()
    st.html(f'<div class="ts evidence-said">{_render_said(said)}</div>')
    draw = [_draw_quotes, _draw_conflicts] if number or not said.disputed else [_draw_conflicts, _draw_quotes]
    for each in draw:
        each(view, answer, said, number)
    revision_panel.draw_comment(view, f"s{n}")


def _draw_quotes(view: RunSnapshot, answer: Answer, said: Sentence, number: int) -> None:
    cited = [source for source in answer.sources if set(said.fact_ids) & set(source.fact_ids)]
    for source in sorted(cited, key=lambda source: source.n != number):
        for fact in (view.state.facts.get(i) for i in source.fact_ids if i in said.fact_ids):
            if fact:
                _draw_fact(view, source, fact, chosen=source.n == number)


def _draw_conflicts(view: RunSnapshot, answer: Answer, said: Sentence, number: int) -> None:
    for conflict in _find_conflicts(view, said):
        conflict_list.draw_conflict(view, conflict)


def draw_head() -> None:
    """The heading above what was opened, with the way back to the lists."""
    with st.container(horizontal=True, vertical_alignment="center", key="evidence-head"):
        st.html('<div class="ts"><h2 class="ts-section">Behind this sentence</h2></div>')
        with st.container(key="evidence-close", width="content"):
            back = answer_pane.open_evidence
            ui.button("All evidence", "evidence-close-button", back, "", icon="close", type="tertiary")


def _render_said(said: Sentence) -> str:
    """The sentence with how it was checked, as HTML."""
    support = describe_support(said)
    marks = [(answer_pane.MARKS[key], what) for key, what in support.marks]
    good = (
        ""
        if marks
        else f'<p class="small checked">✓ {escape.html(answer_pane.describe_check(said, support))}</p>'
    )
    told = "".join(
        f'<p class="small mark {tone}">{escape.html(label.format(what))}</p>' for (label, tone), what in marks
    )
    why = f'<p class="small soft">{escape.html(support.reason)}</p>' if marks and support.reason else ""
    disputed = f'<p class="small warned">{escape.html(said.disputed)}</p>' if said.disputed else ""
    return f'<p class="serif">{escape.html(said.claim)}</p>{good}{told}{why}{disputed}'


def _draw_fact(view: RunSnapshot, source: Source, fact: Fact, *, chosen: bool) -> None:
    """One quote in the words around it, its source, and what may be done with it."""
    with st.container(border=True, key=f"evidence-fact-{fact.id}", gap="small"):
        css = "ts quoted chosen" if chosen else "ts quoted"
        st.html(f'<div class="{css}">{_render_quote(source, fact, view.run.id)}</div>')
        if acts.is_possible("mark", view):
            fact_card.draw_buttons(view, fact)


def _render_quote(source: Source, fact: Fact, run_id: str) -> str:
    try:
        text = client.workbench().page(fact.page_id).text if fact.page_id else ""
    except NotFound:
        text = ""
    quote = page_text.render_quote_alone(text, fact)
    origin = PAGE_ORIGIN_LABELS[source.given]
    url = escape.stored_page_url(run_id, fact.page_id, fact.id)
    when = (
        f"published {escape.html(fact.published_at[:10])}"
        if fact.published_at
        else (f"read {labels.format_time(fact.fetched_at)}" if fact.fetched_at else "")
    )
    parts = (
        f"<b>{source.n}</b>",
        escape.render_link(source.url, source.title or escape.shorten_url(source.url)),
        escape.html(escape.host(source.url)) if source.url else "",
        origin,
        when,
        f'<a href="{url}" target="_blank">see it in the page</a>' if fact.page_id else "",
    )
    above = f'<p class="small soft">{escape.html(fact.heading)}</p>' if fact.heading else ""
    return f'{above}{quote}<p class="small soft">{" · ".join(filter(None, parts))}</p>'


def _find_conflicts(view: RunSnapshot, said: Sentence) -> list[Conflict]:
    """The conflicts that one of its facts takes part in."""
    own = set(said.fact_ids)
    return [
        conflict
        for conflict in view.state.conflicts.values()
        if any(own.intersection(side.fact_ids) for side in conflict.values)
    ]
