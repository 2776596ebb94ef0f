"""One batch on the screen: how far it is, what it has spent, its rows in pages; it follows the batch while it works."""

from __future__ import annotations

import functools
from typing import Any

import streamlit as st

from agent import asking_many
from agent.asking_many import Standing
from agent.config import ROOT
from agent.errors import NotFound
from agent.types import Allowance, Batch, BatchRow, RowState
from pages.widgets import chips, door, drafts, exports, following, headline, paging, safe, screens, words

HERE = ROOT / "pages" / "widgets"
PAGE = 25
STATE = {"running": ("Working", "live"), "stopped": ("Stopped", ""), "spent": ("Budget used up", "warn"), "done": ("Done", "good")}
SAY = {
    "running": "New rows start as others end.",
    "stopped": "Nothing is lost: its runs rest where they stood.",
    "spent": "No more rows start. Raise the budget and go on, or take the table as it is.",
    "done": "Every row came to its end. Open one to check it, or take the table along.",
}
ROWS: dict[RowState, tuple[str, str]] = {
    "done": ("done", "good"), "running": ("at work", "live"), "waiting": ("waiting", ""), "resting": ("stopped", ""),
    "failed": ("failed", "bad"), "refused": ("cannot be asked", "bad"), "binned": ("in the bin", ""),
}  # fmt: skip
"""How a row stands: the words, their tone; in the order in which the meter shows them."""


def draw(batch_id: str) -> None:
    """The batch, drawn again every second as long as it works."""
    try:
        now = asking_many.standing(door.workbench(), batch_id)
    except NotFound:
        headline.missing("batch", f"There is no batch called {safe.shorten(batch_id, 40)}", "pages/batch.py", "Ask other questions")
        return
    st.set_page_config(page_title=f"{safe.shorten(now.batch.name, 50)} · Touchstone")
    st.html(HERE / "batch.css")
    drafts.keep()
    moving = _moving(now)
    st.fragment(_live, run_every=following.POLL_S if moving else None)(batch_id, moving)


def _moving(now: Standing) -> bool:
    return now.batch.state == "running" or now.counts["running"] > 0


def _live(batch_id: str, moving: bool) -> None:
    now = asking_many.standing(door.workbench(), batch_id)
    if moving is not _moving(now):
        st.rerun()
    st.page_link("pages/batch.py", label="Other questions", icon=":material/add:")
    headline.band(now.batch.settings)
    st.html(heading(now))
    door.show_notice("batch-run")
    st.html(meter(now))
    st.html(figures(now))
    _controls(now)
    st.html('<div class="ts"><h2 class="ts-section">Rows</h2></div>')
    chosen = _filtered(now)
    shown = paging.part(chosen, PAGE, f"batch-rows-{batch_id}")
    st.html(table(shown, asking_many.results(door.workbench(), shown), now.batch))
    paging.turn(len(chosen), PAGE, f"batch-rows-{batch_id}", "rows")


def heading(now: Standing) -> str:
    """The name and how it stands, as HTML."""
    name, tone = STATE[now.batch.state]
    pulse = '<span class="pulse" aria-hidden="true"></span>' if _moving(now) else ""
    why = f"{now.over[:1].upper()}{now.over[1:]}. " if now.batch.state == "spent" and now.over else ""
    failed = "Some rows failed: see why, and try them again. " if now.batch.state == "done" and now.counts["failed"] else ""
    said = f'{pulse}<span class="say soft">{safe.html(failed or why + SAY[now.batch.state])}</span>'
    return (
        f'<div class="ts"><h1 class="ts-question">{safe.html(now.batch.name)}</h1>'
        f'<div class="ts-now" role="status" aria-live="polite">{chips.one(name, tone)}{said}</div></div>'
    )


def meter(now: Standing) -> str:
    """How many rows stand how: a bar in parts, and the same in words."""
    counts, total = now.counts, max(1, len(now.rows))
    parts = "".join(f'<i class="{state}" style="width:{counts[state] / total:.4%}"></i>' for state in ROWS if counts[state])
    said = ", ".join(f"{counts[state]:,} {name}" for state, (name, _) in ROWS.items() if counts[state])
    legend = "".join(f'<span><i class="{state}"></i>{counts[state]:,} {name}</span>' for state, (name, _) in ROWS.items() if counts[state])
    return f'<div class="ts batch-meter"><div class="bar" role="img" aria-label="{said}">{parts}</div><div class="legend">{legend}</div></div>'


def figures(now: Standing) -> str:
    """What was spent of the budget, as a strip of figures."""
    spent, most = now.spent, now.batch.allowance
    told = [
        ("Rows", f"{now.counts['done']:,} <small>of {len(now.rows):,}</small>"),
        ("Model calls", f"{spent.llm_calls:,} <small>of {most.max_calls:,}</small>"),
        ("Tokens", f"{words.tokens(spent)} <small>of {_short(most.max_tokens)}</small>"),
        ("Cost", f"{words.money(spent.cost_usd)} <small>of {words.money(most.max_cost_usd)}</small>"),
        ("Work", f"{words.duration(spent.seconds)} <small>of {most.max_minutes:g} min</small>"),
        ("Side by side", f"{most.side_by_side}"),
    ]
    return '<dl class="ts figures six">' + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in told) + "</dl>"


def _short(number: int) -> str:
    return f"{number / 1e6:g} m" if number >= 1_000_000 else f"{number / 1000:g} k" if number >= 10_000 else f"{number:,}"


def _controls(now: Standing) -> None:
    bench, batch_id = door.workbench(), now.batch.id
    with st.container(horizontal=True, vertical_alignment="center", key="batch-controls"):
        if _moving(now):
            st.button("Stop", icon=":material/stop:", key="batch-stop", on_click=door.tell, args=(asking_many.stop, bench, batch_id))
        if now.can_go_on and not now.over:
            go_on = functools.partial(asking_many.go_on, bench, batch_id)
            st.button("Go on", type="primary", icon=":material/play_arrow:", key="batch-go-on", on_click=door.tell, args=(go_on,))
        if now.counts["failed"] and not _moving(now):
            again = functools.partial(asking_many.go_on, bench, batch_id, failed=True)
            st.button("Try failed rows again", icon=":material/replay:", key="batch-again", on_click=door.tell, args=(again,))
        with st.popover("Budget", icon=":material/savings:", key=f"batch-raise-{batch_id}", type="primary" if now.over else "secondary"):
            _budget(now)
        name = exports.file_name(now.batch.name)
        make: Any = functools.partial(asking_many.csv_table, bench, batch_id)
        st.download_button(
            "Table (CSV)", lambda: make().encode("utf-8-sig"), f"{name}.answers.csv", "text/csv", key="batch-csv", icon=":material/download:",
            on_click="ignore",
        )  # fmt: skip
        as_json = functools.partial(asking_many.json_table, bench, batch_id)
        st.download_button("JSON", as_json, f"{name}.answers.json", "application/json", key="batch-json", on_click="ignore")


def _budget(now: Standing) -> None:
    """Another budget; with a raised one it goes on."""
    most, key = now.batch.allowance, f"batch-raised-{now.batch.id}"
    cost = st.number_input("At most, US dollars", 0.0, 10_000.0, most.max_cost_usd, 1.0, key=f"{key}-cost")
    calls = st.number_input("At most, model calls", 0, 1_000_000, most.max_calls, 100, key=f"{key}-calls")
    tokens = st.number_input("At most, tokens", 0, 1_000_000_000, most.max_tokens, 1_000_000, key=f"{key}-tokens")
    minutes = st.number_input("At most, minutes of work", 1.0, 10_000.0, max(1.0, most.max_minutes), 10.0, key=f"{key}-minutes")
    side = st.number_input("Side by side", 1, asking_many.MOST_AT_ONCE, most.side_by_side, key=f"{key}-side")
    chosen = Allowance(side_by_side=int(side), max_calls=int(calls), max_tokens=int(tokens), max_cost_usd=float(cost), max_minutes=float(minutes))
    go_on = functools.partial(asking_many.go_on, door.workbench(), now.batch.id, chosen)
    st.button("Set the budget and go on", type="primary", key=f"{key}-set", on_click=door.tell, args=(go_on,))


def _filtered(now: Standing) -> list[BatchRow]:
    """The rows of the state that was chosen; all of them at first."""
    there = [state for state in ROWS if now.counts[state]]
    if len(there) < 2:
        return now.rows
    names = {"": "All", **{state: ROWS[state][0].capitalize() for state in there}}
    chosen = st.selectbox("Show", list(names), format_func=names.get, key=f"batch-show-{now.batch.id}", filter_mode=None, width=220)
    return [row for row in now.rows if row.state == chosen] if chosen in there else now.rows


def table(rows: list[BatchRow] | Any, results: list[dict[str, Any]], batch: Batch) -> str:
    """The rows as an HTML table, each with the way to its run."""
    body = "".join(_row(row, result, batch) for row, result in zip(rows, results, strict=True))
    head = "<tr><th>Row</th><th>Question and answer</th><th>How it stands</th><th>Confidence</th><th>Backed</th><th>Sources</th></tr>"
    return f'<div class="ts batch-rows"><table>{head}{body}</table></div>'


def _row(row: BatchRow, result: dict[str, Any], batch: Batch) -> str:
    flow = str(row.own.get("flow", batch.settings.flow))
    path = screens.of(flow).removeprefix("pages/").removesuffix(".py").replace("research", "")
    asked = safe.html(safe.shorten(row.question, 200)) or "(no question)"
    question = f'<a href="./{path}?run={safe.html(row.run_id)}" target="_self">{asked}</a>' if row.run_id else f"<span>{asked}</span>"
    why = row.error or row.trouble or (result["why stopped"] if row.state == "resting" else "")
    said = result["answer"] if row.state == "done" else why
    same = f'<p class="small soft">the same as row {row.same_as}</p>' if row.same_as else ""
    told = f"<p>{safe.html(safe.shorten(said, 280))}</p>" if said else ""
    name, tone = ROWS[row.state]
    if row.state == "done" and row.verdict:
        name, tone = words.VERDICT.get(row.verdict, row.verdict), words.VERDICT_TONE.get(row.verdict, "")
    sources = ", ".join(dict.fromkeys(safe.link(url, safe.host(url)) for url in (result["sources"] or [])[:3]))
    more = len(result["sources"] or []) - 3
    backed = f"{result['backed']} of {result['statements']}" if result["statements"] != "" else "–"
    level = words.percent(row.confidence) if row.state == "done" else "–"
    return (
        f'<tr><td data-name="Row">{row.n}</td><td><p class="q">{question}</p>{told}{same}</td>'
        f'<td>{chips.one(name, tone)}</td><td data-name="Confidence">{level}</td>'
        f'<td data-name="Backed">{backed}</td><td data-name="Sources">{sources or "–"}{f" and {more} more" if more > 0 else ""}</td></tr>'
    )
