"""The first screen: one line that says what this is, the question box, what to use, and examples that need no network."""

from __future__ import annotations

import json

import streamlit as st

from agent.config import ROOT
from agent.types import Settings
from pages.widgets import door, drafts, empty, safe, words

QUESTION, DRAFT = "research-question", "question"
EXAMPLES = 6


def draw() -> None:
    """The whole screen."""
    st.query_params.clear()  # a link from a run to this screen leaves the run in the browser's address (Streamlit 1.67)
    st.html(
        '<div class="ts ts-hero"><h1>Research you can check.</h1><p>Ask a question. Touchstone searches and reads the web one visible '
        "step at a time, and ties every claim it keeps to a verbatim quote in a stored page. You steer, accept or send back.</p></div>"
    )
    offline = st.empty()
    door.show_notice("ask")
    drafts.keep()
    with st.container(key="research-ask"):
        drafts.area("Your question", QUESTION, DRAFT, placeholder="e.g. Who runs the company that makes …, and since when?", height=110)
        settings = _choices()
    _examples(settings)
    _recent()
    if settings.world == "live" and not online():
        with offline.container(border=True, key="research-offline"):
            _offline()


@st.cache_data(ttl=20, show_spinner=False)
def online() -> bool:
    """Is there a network? Asked at most every 20 seconds."""
    return door.workbench().online()


def _choices() -> Settings:
    """The row beneath the box; returns what a run would be started with."""
    with st.container(horizontal=True, vertical_alignment="center"):
        start = st.container(width="content")
        mode = st.segmented_control(
            "How it goes on", ["auto", "step"], default="auto", required=True, key="research-mode", persist_state="session",
            label_visibility="collapsed",
            format_func={"auto": "Automatic", "step": "Step by step"}.__getitem__,
        )  # fmt: skip
        with st.popover("Options", icon=":material/tune:", key="research-options"):
            settings = _options(mode or "auto")
    with start:
        st.button(
            "Research", type="primary", icon=":material/search:", key="research-start", shortcut="Ctrl+Enter", on_click=_start, args=(settings,),
        )  # fmt: skip
    spoken = "without a model" if _keyless(settings) else f"with {settings.model if settings.model != 'auto' else door.workbench().active().model}"
    world = door.workbench().worlds().get(settings.world, settings.world)
    how = "You approve each step." if settings.mode == "step" else ""
    st.caption(safe.md(f"{world} · {spoken} · up to {words.count(settings.max_steps, 'step')} and {words.count(settings.max_pages, 'page')}. {how}"))
    return settings


def _options(mode: str) -> Settings:
    bench, plain = door.workbench(), Settings()
    worlds, active = bench.worlds(), bench.active()
    world = st.selectbox(
        "Where to look", list(worlds), format_func=lambda name: worlds[name], key="research-world", filter_mode=None, persist_state="session",
    )  # fmt: skip
    models = ["auto", "keyless"] if active.model else ["keyless"]
    model = st.selectbox(
        "Who thinks", models, format_func=lambda name: f"Model: {active.model}" if name == "auto" else "No model (rules and quotes only)",
        key="research-model", filter_mode=None, persist_state="session",
        help=None if active.model else safe.md(active.model_detail),
    )  # fmt: skip
    steps = st.number_input("At most this many searches and pages", 1, 60, plain.max_steps, key="research-max-steps", persist_state="session")
    pages = st.number_input("At most this many pages read", 1, 60, plain.max_pages, key="research-max-pages", persist_state="session")
    sure = st.slider(
        "Ask me to review from this confidence on", 50, 100, round(plain.threshold * 100), format="%d %%",
        key="research-threshold", persist_state="session",
    )  # fmt: skip
    return Settings(
        mode="step" if mode == "step" else "auto", world=world or "live", model=model or "auto",
        max_steps=int(steps), max_pages=int(pages), threshold=sure / 100,
    )  # fmt: skip


def _keyless(settings: Settings) -> bool:
    return settings.model == "keyless" or not door.workbench().active().model


def _start(settings: Settings) -> None:
    _ask(st.session_state.get(QUESTION, ""), settings, typed=True)


def _example(question: str, settings: Settings) -> None:
    _ask(question, settings.model_copy(update={"world": "demo"}), typed=False)


def _ask(question: str, settings: Settings, *, typed: bool) -> None:
    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        if typed:
            drafts.sent(QUESTION, DRAFT)

    door.tell(door.workbench().start, question, settings, then=opened)


@st.cache_data(show_spinner=False)
def demo_questions() -> list[str]:
    """The first questions of the bundled world, those of different kinds first."""
    path = ROOT / "demo" / "questions.jsonl"
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    first_of_kind = {row.get("type", ""): row for row in reversed(rows)}
    ordered = sorted(first_of_kind.values(), key=rows.index) + [row for row in rows if row not in first_of_kind.values()]
    return [row["question"] for row in ordered]


def _examples(settings: Settings) -> None:
    questions = demo_questions()[:EXAMPLES]
    if not questions:
        return
    st.html(
        '<div class="ts"><h2 class="ts-section">Try it in the demo world</h2><p class="soft small">A small bundled web of invented sites: '
        "no key, no network, an answer in seconds.</p></div>"
    )
    with st.container(key="research-examples"), st.grid(3, min_column_width=260, gap="small"):
        for number, question in enumerate(questions):
            st.button(
                safe.md(question), key=f"research-example-{number}", on_click=_example, args=(question, settings), width="stretch", wrap=True,
            )  # fmt: skip


def _recent() -> None:
    runs = door.workbench().runs()[:5]
    st.html('<div class="ts"><h2 class="ts-section">Your latest runs</h2></div>')
    if not runs:
        empty.draw("No runs yet", "Type a question above, or take one of the examples. Everything you start is kept here.")
        return
    with st.container(gap="xxsmall", key="research-recent"):
        for run in runs:
            label = f"{safe.md(run.question, 110)}  :gray[{words.STATUS[run.status]}, {words.ago(run.updated_at)}]"
            st.page_link("pages/research.py", label=label, query_params={"run": run.id}, icon=":material/chevron_right:")


def _offline() -> None:
    st.html(
        '<div class="ts"><b>There seems to be no network.</b> A question about the live web cannot be answered now. The demo world needs none; '
        "its sites are invented, and its runs say so.</div>"
    )
    if "demo" in door.workbench().worlds():
        st.button("Ask the demo world instead", key="research-use-demo", icon=":material/cottage:", on_click=_use_demo)


def _use_demo() -> None:
    st.session_state["research-world"] = "demo"
