"""The first screen of Reply: the conversation as text with how it is read beneath, where to answer from,
examples, the latest replies."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.reply_config import ResponseConfig
from agent.text.plurals import format_count
from agent.types import Run, Status
from agent.types.reply import Conversation, Message
from pages.widgets.reply import bot_help, bot_services
from pages.widgets.run import transcript
from pages.widgets.shell import client, drafts, empty_state, escape, labels, ui

HERE = Path(__file__).parent.parent / "shell"
TEXT_KEY, TEXT_DRAFT = "reply-text", "reply:conversation"
PLACE_KEY, MODEL_KEY = "reply-place", "reply-model"
EXAMPLES = (
    ("A question the pages answer", "User: How do I install Fyrvakt on Debian?"),
    (
        "A follow-up",
        "User: What does the Harbour edition cost?\nYou: Harbour costs 48 euros a year for up to 25 machines.\nUser: And for a school?",
    ),
    ("Thanks, and nothing else", "User: thanks, that did it!"),
    ("Not in the pages", "User: Can Fyrvakt water my plants while I am away?"),
)
PLACEHOLDER = (
    "User: How do I install it on Debian?\nYou: Which version do you have?\nUser: 12, on a small server"
)


def draw() -> None:
    """The whole screen."""
    st.html(HERE / "talk.css")
    st.html(
        '<div class="ts ts-hero"><h1>Reply, or stay silent.</h1><p>Give a conversation from a forum or a chat. Touchstone decides whether it can be '
        "answered, chooses sources from the index, writes only what they say, and says nothing when it is not sure.</p></div>"
    )
    client.show_notice("reply")
    drafts.install_script()
    found, wrong = bot_services.read_settings()
    if found is None:
        st.warning(escape.md(f"The settings of Reply cannot be used: {wrong}"), icon=":material/warning:")
        return
    with st.container(key="reply-ask"):
        text = drafts.text_area(
            "The conversation, oldest message first",
            TEXT_KEY,
            TEXT_DRAFT,
            placeholder=PLACEHOLDER,
            height=150,
        )
        st.caption(
            "Begin a message with User: or with You: for what the bot said. Text without a label is a person's."
        )
        _draw_settings(found)
    messages = transcript.parse_messages(text)
    if messages:
        _draw_interpretation(messages)
    if st.session_state.get(PLACE_KEY) != bot_services.DEMO and not client.library().count():
        empty_state.draw(
            "The library is empty",
            "Every reply would be silence. Add documents to the library, or answer from the demo knowledge base.",
        )
        ui.link("pages/library.py", "Add documents", "note_add", {"view": "add"})
    left, right = st.columns(2, gap="small")
    with left:
        _draw_introduction(found)
    with right:
        bot_help.draw()
    _draw_examples()
    _draw_recent()


def _draw_settings(found: ResponseConfig) -> None:
    places, active = bot_services.list_places(), client.workbench().active_configuration()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.selectbox(
            "Answer from", list(places), key=PLACE_KEY, format_func=places.get, filter_mode=None, width=300
        )
        models = ["auto", "keyless"] if active.model else ["keyless"]
        model = st.selectbox(
            "Model",
            models,
            format_func=lambda name: (
                f"Model: {active.model}" if name == "auto" else "No model (rules and quotes only)"
            ),
            key=MODEL_KEY,
            filter_mode=None,
            width=280,
        )
        ui.button(
            "Reply",
            "reply-start",
            _start_typed,
            place,
            model,
            icon="reply",
            type="primary",
            shortcut="Ctrl+Enter",
        )
    own = found.reply_settings
    check = (
        "the draft is verified"
        if own.enable_verification
        else "the draft is not verified (enable_verification is off)"
    )
    within = labels.format_duration(own.graph_timeout_seconds)
    most = f"Up to {format_count(own.max_sources, 'source')} and {own.max_answer_chars:,} characters, within {within}"
    st.caption(
        escape.md(
            f"{most}; {check}. Settings: {found.path or 'the defaults, there is no config.yaml'}. {client.explain_missing_model()}"
        )
    )


def _draw_interpretation(messages: list[Message]) -> None:
    """How the text is read, message by message, with a way to say that the other side said it."""
    with st.container(border=True, key="reply-read-as"):
        st.html('<div class="ts"><p class="small soft">Read as</p></div>')
        for n, message in enumerate(messages):
            with st.container(horizontal=True, vertical_alignment="center", key=f"reply-message-{n}"):
                st.html(f'<div class="ts">{transcript.render_bubble(message)}</div>', width="stretch")
                which = escape.md(message.text or "a picture", 40)
                other = (
                    f"Make it a person’s *{which}*"
                    if message.role == "bot"
                    else f"Make it the bot’s *{which}*"
                )
                ui.button(other, f"reply-turn-{n}", _swap_speaker, n, icon="swap_horiz", type="tertiary")


def _draw_introduction(found: ResponseConfig) -> None:
    text = found.reply_settings.project_introduction
    with st.expander(
        "The project’s introduction" if text else "Introduce your project",
        icon=":material/badge:",
        key="reply-introduction",
    ):
        if text:
            st.text(text)
        else:
            st.html(
                '<div class="ts small"><p>A few sentences on what the project is help every step to tell what belongs to it. Write them as '
                "<code>ai_response.project_introduction</code> in <code>config.yaml</code> (see <code>config.example.yaml</code>).</p></div>"
            )


def _swap_speaker(n: int) -> None:
    text = transcript.format_messages(
        transcript.swap_speaker(transcript.parse_messages(st.session_state.get(TEXT_KEY) or ""), n)
    )
    st.session_state[TEXT_KEY] = text
    client.workbench().draft(TEXT_DRAFT, text)


def _start_typed(place: str, model: str) -> None:
    _start_run(st.session_state.get(TEXT_KEY) or "", place, model, typed=True)


def _start_run(text: str, place: str, model: str, *, typed: bool) -> None:
    messages = transcript.parse_messages(text)
    if not messages:
        client.set_notice(
            "warning", "There is no conversation yet: type or paste what was said, or take an example."
        )
        return

    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        if typed:
            drafts.clear(TEXT_KEY, TEXT_DRAFT)

    client.submit(
        lambda: bot_services.get_service(place).start_reply(
            Conversation(messages=messages), bot_services.build_context(place), model=model
        ),
        then=opened,
    )


def _draw_examples() -> None:
    if bot_services.DEMO not in bot_services.list_places():
        return
    st.html(
        '<div class="ts"><h2 class="ts-section">Try it on the demo knowledge base</h2><p class="soft small">Four invented pages on an invented '
        "program: two conversations that are answered, two that end in silence.</p></div>"
    )
    with st.container(key="reply-examples"), st.grid(4, min_column_width=230, gap="small"):
        for n, (title, text) in enumerate(EXAMPLES):
            last = transcript.parse_messages(text)[-1].text
            label = f"{escape.md(last)}  \n:gray[{escape.md(title)}]"
            ui.button(label, f"reply-example-{n}", _start_example, text, width="stretch", wrap=True)


def _start_example(text: str) -> None:
    _start_run(text, bot_services.DEMO, "auto", typed=False)


def _draw_recent() -> None:
    runs = [run for run in client.workbench().runs() if run.settings.flow == "reply"][:6]
    ui.heading("The latest replies")
    if not runs:
        empty_state.draw(
            "Nothing was asked yet",
            "Paste a conversation above, or take an example. What a bot asks is listed here, too.",
        )
        return
    with st.container(gap="xxsmall", key="reply-recent"):
        for run in runs:
            label = f"{escape.md(run.question, 100)}  :gray[{describe_status(run)}, {labels.format_age(run.updated_at)}]"
            ui.link("pages/reply.py", label, "chevron_right", {"run": run.id})


def describe_status(run: Run) -> str:
    """How a reply ended, in a word."""
    if run.status is Status.DONE:
        return "silence" if run.verdict in ("", "no_evidence") else "replied"
    return labels.STATUS[run.status].lower()
