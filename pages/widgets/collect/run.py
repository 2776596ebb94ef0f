"""One collecting run on the screen: the crawl path as it grows, what was gathered and left out, the digest,
the exports."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from agent import api
from agent.export import collected
from agent.export.collected import CollectionResult
from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.types import Status
from agent.types.collection import CrawlNode
from agent.workbench import RunSnapshot
from pages.widgets.collect import crawl_tree, results
from pages.widgets.evidence import facts
from pages.widgets.run import answer_pane, controls, export_menu, pause_prompt, run_page
from pages.widgets.shell import badges, client, empty_state, escape, markup, ui


def _draw_live(view: RunSnapshot) -> None:
    run_page.draw_heading(PAGE, view, render_intent(view.state))
    client.show_notice("collect-run")
    pause_prompt.draw(view)
    with st.container():  # or nothing: what follows keeps its position
        if view.run.status is Status.WAITING:
            draw_preview(view, view.state)
    run_page.draw_panes(view, lambda: _draw_result(view), TABS, "collect-tab")
    controls.draw_bar(view)


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


def _draw_result(view: RunSnapshot) -> None:
    """The digest, and what was gathered."""
    if view.state.answers:
        answer_pane.draw(view.state.answers[-1], view)
    if view.state.own.kept_items:
        found = api.build_collection(client.workbench(), view.run.id)
        name, bench, run_id = export_menu.make_file_name(view.run.question), client.workbench(), view.run.id
        with st.container(horizontal=True):  # as files, each written when it is asked for
            for end, (label, mime, write) in FILES.items():
                make = functools.partial(lambda write: write(api.build_collection(bench, run_id)), write)
                ui.download(label, f"collect-{end}", make, f"{name}.{end}", mime, icon=":material/download:")
        st.html(results.render_items(found.items, view.run.id))
    elif view.state.answers and view.run.status is not Status.RUNNING:
        why = "The crawl path, “Left out” and “Unavailable sources” show why."
        empty_state.draw("Nothing was kept", f"{why} Send it back with guidance, or try another start page.")
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


MAX_SHOWN = 30


def draw_preview(view: RunSnapshot, state: CollectRun) -> None:
    """The card. Its answer carries the head of the run as it was seen, so that a second tab cannot answer
    twice."""
    ahead = state.own.frontier(state)
    with st.container(border=True, key="collect-preview"):
        st.html(f'<div class="ts">{_render_summary(state, ahead)}</div>')
        key = f"collect-path-{view.head}"
        chosen = {
            branch.id: st.checkbox(_describe_page(branch), value=True, key=f"{key}-{branch.id}")
            for branch in ahead[:MAX_SHOWN]
        }
        left = [name for name, wanted in chosen.items() if not wanted]
        if len(ahead) > MAX_SHOWN:
            st.caption(f"and {len(ahead) - MAX_SHOWN} more")
        with st.container(horizontal=True):
            hint = "It shows the next pages again when new ones are found"
            keep: Any = {"given": {"leave_out": left}, "icon": "check", "type": "primary", "help": hint}
            ui.act(view, "approve_path", "collect-approve", "Follow this path", **keep)
            all_of_it = {"leave_out": left, "ask_again": False}
            label = "Follow to the end without asking"
            ui.act(view, "approve_path", "collect-walk", label, icon="fast_forward", given=all_of_it)


def _render_summary(state: CollectRun, ahead: list[CrawlNode]) -> str:
    """Where the crawl is: what was decided at the pages these were found on."""
    told = f"Next pages, if you approve: {format_count(len(ahead), 'page')}. Nothing of it has been read yet."
    lines = [markup.paragraph(told)]
    for name in dict.fromkeys(branch.parent for branch in ahead if branch.parent in state.own.tree):
        parent = state.own.tree[name]
        title = escape.html(parent.title or escape.shorten_url(parent.url))
        lines.append(f'<p><b>{title}</b> <span class="soft">{escape.html(parent.reasoning)}</span></p>')
    return "".join(lines)


def _describe_page(branch: CrawlNode) -> str:
    about = [branch.detected_date] if branch.detected_date else []
    about += [f"the next page of the {branch.continues}"] if branch.continues else []
    told = f"{branch.anchor or 'page'} ({', '.join(about)})" if about else branch.anchor or "page"
    return escape.md(f"{told}: {escape.shorten_url(branch.url)}", 220)


draw = functools.partial(run_page.draw, PAGE, _draw_live)
