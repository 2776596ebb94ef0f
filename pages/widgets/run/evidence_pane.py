"""What stands beside the answer: the evidence of what was opened in it, else the lists of the run (sources,
facts, conflicts, plan, activity)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from agent.answering.revision import describe_target
from agent.evidence.support import describe_support
from agent.types import Answer
from agent.workbench import RunSnapshot
from pages.widgets.evidence import conflict_list, fact_card, facts, sources
from pages.widgets.research import revision_panel
from pages.widgets.run import answer_pane
from pages.widgets.shell import client, escape, ui

Tab = Callable[[RunSnapshot], None]
CONVERSATIONS = ("chat", "site")
"""The flows whose screens show the earlier turns, too."""


def draw(
    view: RunSnapshot,
    tabs: Mapping[str, Tab],
    key: str,
    draw_opened: Callable[[str], bool] | None = None,
) -> None:
    """The evidence of what is open, by `draw_opened` where it is no sentence of an answer; the tabs
    otherwise."""
    with st.container(key="pane-evidence"):
        see, state = st.query_params.get(answer_pane.SEE, ""), view.state
        if draw_opened(see) if draw_opened else _draw_opened(view, see):
            return
        if page := next((p for p in state.pages.values() if see == f"{view.run.id}.p-{p.page_id}"), None):
            draw_head("From this page")
            sources.draw_page(view, page)
            return
        counts: dict[str, int | str] = {
            "Sources": len(sources.list_works(view)),
            "Facts": sum(fact.decision != "struck" for fact in state.facts.values()),
            "Conflicts": sum(conflict.status == "open" for conflict in state.conflicts.values()),
        }
        if unsaved := facts.collect_edits(state.facts.values(), facts.drafts_of(view.run.id)):
            counts["Facts"] = f"{counts['Facts']} · {len(unsaved)} unsaved"
        # by style: with another label the tabs would be built anew, and the first one opened
        rules = "".join(
            f'.st-key-{key} [role="tab"]:nth-of-type({n}) p::after {{ content: " {counts[name]}" }}'
            for n, name in enumerate(tabs, 1)
            if counts.get(name)
        )
        st.html(f"<style>{rules}</style>")
        kept = f"{key}-kept"  # Streamlit forgets the tab while something is open in its place
        if kept in st.session_state:
            st.session_state.setdefault(key, st.session_state[kept])
        for name, tab in zip(tabs, st.tabs(list(tabs), key=key, on_change="rerun"), strict=True):
            if tab.open:
                st.session_state[kept] = name
                with tab:
                    tabs[name](view)


def _draw_opened(newest: RunSnapshot, see: str) -> bool:
    """The evidence of the sentence, section or conflict that the address names; False where it names none of
    the run that is open, or of an earlier turn on its screen."""
    run_id, _, name = see.partition(".")
    bench, turns = client.workbench(), [newest.run.id]
    if run_id not in turns and newest.run.settings.flow in CONVERSATIONS:
        turns = bench.thread(newest.run.id)
    view = bench.snapshot(run_id) if name and run_id in turns else None
    if view and (conflict := view.state.conflicts.get(name)):
        draw_head("Sources disagree" if conflict.status == "open" else "Settled")
        conflict_list.draw_conflict(view, conflict)
        return True
    target = name.rpartition(".")[2]
    if view and target.startswith("h") and (text := describe_target(view.state.answers[-1], target)):
        draw_head("About this section")
        st.html(f'<div class="ts evidence-said"><p class="serif">{escape.html(text)}</p></div>')
        revision_panel.draw_comment(view, target)
        return True
    if view and (found := answer_pane.find_sentence(see, view)):
        _draw_sentence(view, *found)
        return True
    return False


def draw_head(title: str = "Behind this sentence") -> None:
    """The heading above what was opened, with the way back to the lists."""
    with st.container(horizontal=True, vertical_alignment="center", key="evidence-head"):
        ui.heading(title)
        with st.container(key="evidence-close", width="content"):
            back = answer_pane.open_evidence
            ui.button("All evidence", "evidence-close-button", back, "", icon="close", type="tertiary")


def _draw_sentence(view: RunSnapshot, answer: Answer, n: int, number: int) -> None:
    """What a sentence stands on (its source `number` first), how it was checked, and what a person may do."""
    said, state = answer.sentences[n - 1], view.state
    draw_head()
    marks, support = answer_pane.list_marks(said), describe_support(said)
    lines = [f'<p class="serif">{escape.html(said.claim)}</p>']
    lines += [f'<p class="small mark {tone}">{escape.html(label)}</p>' for label, tone in marks]
    if not marks:
        lines.append(f'<p class="small checked">✓ {escape.html(answer_pane.describe_check(said))}</p>')
    lines += [f'<p class="small soft">{escape.html(support.reason)}</p>'] if marks and support.reason else []
    lines += [f'<p class="small warned">{escape.html(said.disputed)}</p>'] if said.disputed else []
    is_newest = answer.n == state.answers[-1].n
    lines += [] if is_newest else ['<p class="small soft">The answer does not say this any more.</p>']
    st.html(f'<div class="ts evidence-said">{"".join(lines)}</div>')
    ids = set(said.fact_ids)
    for conflict in state.conflicts.values():
        if any(ids.intersection(side.fact_ids) for side in conflict.values):
            told = " or ".join(escape.shorten(side.text, 40) for side in conflict.values)
            label = escape.md(f"{'Sources disagree' if conflict.status == 'open' else 'Settled'}: {told}")
            see = f"{view.run.id}.{conflict.id}"
            ui.button(label, f"evidence-{conflict.id}", answer_pane.open_evidence, see, icon="balance")
    for source in sorted(answer.sources, key=lambda source: source.n != number):
        for fact in (state.facts.get(i) for i in source.fact_ids if i in ids):
            if fact:
                key = f"evidence-{fact.id}"
                with st.container(border=True, key=key, gap="small"):
                    fact_card.draw(view, fact, key, number=source.n, is_editable=True)
    if is_newest:
        revision_panel.draw_comment(view, f"s{n}")
