"""One check of a text on the screen: its summary, the marked text as it grows, what could not be read; and
how a person overrules a mark."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from agent.types import MARK_LABELS, CheckedText, ClaimMark, MarkedSentence, Status
from agent.workbench import RunSnapshot
from pages.widgets.check_text import marked_text
from pages.widgets.evidence import fact_card
from pages.widgets.run import answer_pane, controls, evidence_pane, pause_prompt, run_page
from pages.widgets.shell import (
    client,
    drafts,
    empty_state,
    escape,
    markup,
    pagination,
    ui,
    view_cache,
)

PARAGRAPHS_A_PAGE = 60


def _draw_live(view: RunSnapshot) -> None:
    state = view.state
    checked: CheckedText | None = view_cache.get_or_compute(
        view, "checked", lambda: state.own.checked_text(state)
    )
    if checked and state.answers:  # a person may have set other marks since
        told = state.answers[-1].replace(certainty=checked.summary)
        view = replace(view, state=state.model_copy(update={"answers": [told]}))
    title = checked.title if checked and checked.title != view.run.question else ""  # of a page
    run_page.draw_heading(PAGE, view, markup.paragraph(escape.html(title), "soft"))
    client.show_notice("check-text-run")
    pause_prompt.draw(view)

    def draw_opened(see: str) -> bool:
        claims = checked.claims if checked else []
        opened = next((one for one in claims if see == f"{view.run.id}.{one.sentence.id}"), None)
        if opened:
            _draw_claim(view, opened)
        return opened is not None

    run_page.draw_panes(view, lambda: _draw_text(view, checked), TABS, "check-text-tab", draw_opened)
    controls.draw_bar(view)


def _draw_claim(view: RunSnapshot, one: MarkedSentence) -> None:
    """What stands behind the mark of a sentence, and the form that overrules it."""
    evidence_pane.draw_head()
    st.html(f'<div class="ts">{marked_text.render_evidence(one)}</div>')
    if fact := marked_text.find_closest(one):
        with st.container(border=True, key="check-text-quote", gap="small"):
            fact_card.draw(view, fact, "check-text-quote")
    draft, key = f"overrule:{view.run.id}:{one.sentence.id}", f"check-text-overrule-{one.sentence.id}"
    with st.expander("Overrule this mark", icon=":material/gavel:", key=key):
        mark: ClaimMark = ui.select("Your mark", MARK_LABELS, f"check-text-mark-{draft}")
        drafts.text_area("Why", draft, placeholder="e.g. The table on page 4 says it.", most=500)
        args = (_overrule, view.run.id, one.sentence.id, mark, draft)
        ui.button("Set this mark", "check-text-set", *args, type="primary")


def _draw_text(view: RunSnapshot, checked: CheckedText | None) -> None:
    if checked is None:
        if view.run.status is Status.RUNNING:
            empty_state.draw("The text is being read", "Its sentences appear here with their marks.")
        elif view.state.answer:
            hint = "Try it again under Sources, paste what you see there, or check another text."
            empty_state.draw(view.state.answer.certainty, hint)
        return
    if checked.why_stopped:
        st.html(f'<div class="ts small warned">Ended early: {escape.html(checked.why_stopped)}.</div>')
    if not checked.claims:
        empty_state.draw("No claim was found", "The text has headings, questions or references only.")
        return
    names = {"all": "Whole text", "problems": "Only problems"}
    chosen = ui.switch("Show", names, "check-text-filter")
    only_problems, key, paragraphs = chosen == "problems", f"check-text-{chosen}", checked.paragraphs
    if only_problems:
        paragraphs = [some for some in paragraphs if any(one.is_problem for one in some)]
    shown = pagination.take_page(paragraphs, PARAGRAPHS_A_PAGE, key)
    with st.container(key="check-text-marked"):
        if html := marked_text.render(shown, view.run.id, only_problems=only_problems):
            answer_pane.draw_html(html, f"checked-{view.run.id}-{key}")
        else:
            hint = "No claim was found wrong, doubtful, unsupported or without a readable source."
            empty_state.draw("No problems", hint)
    pagination.draw(len(paragraphs), PARAGRAPHS_A_PAGE, key, "paragraphs")


def _overrule(run_id: str, sentence_id: str, mark: ClaimMark, draft: str) -> None:
    given = {"sentence": sentence_id, "mark": mark, "reason": drafts.read(draft)}
    done, then = "Your mark stands above the check's.", lambda _: drafts.clear(draft)
    client.act(run_id, "overrule", done=done, then=then, **given)


PAGE = run_page.RunPage(
    flow="check_text",
    noun="check",
    new_label="Check another text",
    hints={
        Status.STOPPED: "Nothing is lost: continue, or finish with what was checked.",
        Status.DONE: "Open a sentence for its quote and reason; what was not read is under Sources.",
    },
)
TABS = {"Sources": run_page.draw_sources, "Activity": run_page.draw_activity}
draw = partial(run_page.draw, PAGE, _draw_live)
