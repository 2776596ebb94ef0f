"""One collecting run on the screen: the crawl path as it grows, what was gathered and left out, the digest,
the exports."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable

import streamlit as st

from agent import api
from agent.export import collected
from agent.export.collected import CollectionResult
from agent.flows.collect.state import CollectRun
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.collect import crawl_tree, preview, results
from pages.widgets.evidence import facts
from pages.widgets.run import answer_pane, controls, export_menu, pause_prompt, run_page
from pages.widgets.shell import badges, client, empty_state, escape, ui


def draw(run_id: str) -> None:
    """The run, drawn again every second as long as it works."""
    if view := run_page.open_run(PAGE, run_id):
        run_page.follow(_draw_live, view)


def _draw_live(view: RunSnapshot) -> None:
    run_page.draw_heading(PAGE, view, render_intent(view.state))
    client.show_notice("collect-run")
    pause_prompt.draw(view)
    with st.container():  # or nothing: what follows keeps its position
        if view.run.status is Status.WAITING:
            preview.draw(view, view.state)
    run_page.draw_panes(view, lambda: _draw_result(view), TABS, "collect-tab")
    controls.draw_bar(view)


def _draw_result(view: RunSnapshot) -> None:
    """The digest, and what was gathered."""
    if view.state.answers:
        answer_pane.draw(view.state.answers[-1], view)
    _draw_gathered(view)


def _draw_path(view: RunSnapshot) -> None:
    state: CollectRun = view.state
    working = state.pending.query_or_url if state.pending and view.run.status is Status.RUNNING else ""
    if state.own.tree:
        st.html(crawl_tree.render(state, working))
    else:
        empty_state.draw("No page yet", "The start pages appear here as soon as the request has been read.")


def render_intent(state: CollectRun) -> str:
    """What the prompt was understood to ask for, as HTML."""
    if not state.own.intent.today:
        return ""
    intent = state.own.intent
    told = [
        f"about {intent.topic}" if intent.topic else "whatever the start pages hold",
        f"section: {intent.target_section}" if intent.target_section else "",
        intent.period or "any time",
        *(f"without: {escape.shorten(refusal, 60)}" for refusal in intent.leave_out),
        f"at most {intent.max_articles}",
    ]
    return f'<div class="chips">{badges.render_row((text, "") for text in told if text)}</div>'


def _draw_gathered(view: RunSnapshot) -> None:
    if view.state.own.kept_items:
        found = api.build_collection(client.workbench(), view.run.id)
        _draw_downloads(view)
        st.html(results.render_items(found.items, view.run.id))
    elif view.state.answers and view.run.status is not Status.RUNNING:
        empty_state.draw(
            "Nothing was kept",
            "The crawl path, “Left out” and “Unavailable sources” show why. Send "
            "it back with guidance, or try "
            "another start page.",
        )
    else:
        empty_state.draw(
            "Nothing is kept yet", "Articles and threads appear here once they are judged relevant."
        )


def _draw_dropped(view: RunSnapshot) -> None:
    if left_out := results.list_left_out(view.state):
        st.html(results.render_left_out(left_out))
    else:
        empty_state.draw(
            "Nothing was left out", "What is too old, off-topic or a duplicate appears here with the reason."
        )


def _draw_downloads(view: RunSnapshot) -> None:
    """What was gathered as files, each written when it is asked for."""
    name, bench, run_id = export_menu.make_file_name(view.run.question), client.workbench(), view.run.id
    with st.container(horizontal=True):
        for end, (label, mime, write) in FILES.items():
            make = functools.partial(lambda write: write(api.build_collection(bench, run_id)), write)
            ui.download(label, f"collect-{end}", make, f"{name}.{end}", mime, icon=":material/download:")


FILES: dict[str, tuple[str, str, Callable[[CollectionResult], str | bytes]]] = {
    "md": ("Markdown", "text/markdown", collected.render_collection_markdown),
    "json": (
        "JSON",
        "application/json",
        lambda found: json.dumps(collected.build_collection_record(found), ensure_ascii=False, indent=1),
    ),
    # with a byte order mark, so that a spreadsheet reads the letters right
    "csv": ("CSV", "text/csv", lambda found: collected.render_collection_csv(found).encode("utf-8-sig")),
}
"""By ending: label, kind and writer."""
PAGE = run_page.RunPage(
    flow="collect",
    noun="run",
    new_label="Collect something else",
    hints={
        Status.WAITING: "Approve the next step.",
        Status.REVIEW: "Read the digest and what was gathered, then accept it or send it back.",
        Status.STOPPED: "Nothing is lost: continue, or write the digest from what was found.",
    },
)
TABS = {
    "Path": _draw_path,
    "Left out": _draw_dropped,
    "Facts": facts.draw,
    "Sources": run_page.draw_sources,
    "Activity": run_page.draw_activity,
}
