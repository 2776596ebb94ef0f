"""The first screen of Reply: the conversation as text with how it is read below, where to answer from,
examples, the latest replies."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from agent.errors import UsageError
from agent.settings.reply_config import ResponseConfig
from agent.text.plurals import format_count
from agent.types.reply import Conversation, Message
from pages.widgets.forms import form_page
from pages.widgets.reply import bot_services
from pages.widgets.run import transcript
from pages.widgets.shell import client, drafts, empty_state, escape, labels, ui

FORM = form_page.Form(
    reads_web=False,
    flow="reply",
    title="Reply, or stay silent.",
    text="Paste a conversation from a forum or a chat. Touchstone decides whether it "
    "can be answered, chooses sources "
    "from the index, writes only what they say, and says nothing when it is not sure.",
    examples_title="Try it on the demo knowledge base",
    intro=(
        "Four invented pages on an invented program: two conversations that are "
        "answered, two that end in silence."
    ),
    columns=4,
    recent_title="The latest replies",
    nothing_recent=("No replies yet", "Paste a conversation above, or try an example."),
)
CONVERSATION = "reply:conversation"
PLACE_KEY, READ_PAGES_KEY = "reply-place", "reply-read-pages"
EXAMPLE_BODY = {
    "conversation": [{"role": "user", "text": "How do I install it?"}],
    "platform": "forum",
    "channel": "help",
}
KEY_HELP = {
    "": "Set `REPLY_TOKEN` to let only those ask who know it.",
    "REPLY_TOKEN": "Both want the token of `REPLY_TOKEN`.",
    "API_TOKEN": "Both want a token of yours: make one on the screen **You**.",
}
STORED = "Conversations are stored for audit (store_conversations is on)."
NOT_STORED = (
    "Conversations are not stored: a reply made here can be looked at for an hour, what a bot asks is "
    "forgotten as soon as it is answered; counts and times are kept (store_conversations is off)."
)
NO_INTRODUCTION = (
    "A few sentences about the project help every step to decide what belongs to it: write them as "
    "ai_response.project_introduction in config.yaml (see config.example.yaml)."
)
PLACEHOLDER = (
    "User: How do I install it on Debian?\nYou: Which version do you have?\nUser: 12, on a small server"
)


def draw() -> None:
    """The whole screen."""
    form_page.draw_head(FORM)
    found, wrong = bot_services.read_settings()
    if found is None:
        st.warning(escape.md(f"The settings of Reply cannot be used: {wrong}"), icon=":material/warning:")
        return
    stored = found.reply_settings.store_conversations
    with st.container(key="reply-ask"):
        label = "The conversation, oldest message first"
        text = drafts.text_area(label, CONVERSATION, placeholder=PLACEHOLDER, height=150, stored=stored)
        st.caption("Begin a message with User:, or with You: for the bot. Without a label it is the user’s.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            slot = st.container(width="content")
            ui.select("Answer from", bot_services.list_places(), PLACE_KEY, width=300)
        messages = transcript.parse_messages(text)
        if messages:
            _draw_interpretation(messages, stored=stored)
        with form_page.draw_options("reply"):
            model = _draw_options(found)
        with slot:
            more: Any = {"icon": "reply", "type": "primary", "shortcut": form_page.SHORTCUT}
            ui.button("Reply", "reply-start", _start_typed, model, **more)
    _draw_empty_library()
    _draw_bot_help(stored=stored)
    if bot_services.DEMO in bot_services.list_places():
        form_page.draw_examples(FORM, _start_example, model)
    unstored = client.workbench().unstored.ended_runs()
    links = [*map(form_page.link_run, unstored), *form_page.link_runs("reply")]
    form_page.draw_recent(FORM, links[: form_page.MAX_RECENT])


def _draw_options(found: ResponseConfig) -> str:
    """What is seldom chosen, and what holds here; returns the chosen model."""
    own = found.reply_settings
    model = form_page.choose_model("reply")
    st.toggle(
        "Also pages that runs have read",
        value=own.include_read_pages,
        key=READ_PAGES_KEY,
        help="Off: only the knowledge base (documents and pages that were added) and the team’s topics.",
    )
    check = "on" if own.enable_verification else "off"
    limits = (
        f"Up to {format_count(own.max_sources, 'source')} and {own.max_answer_chars:,} characters, within "
        f"{labels.format_duration(own.graph_timeout_seconds)}; second check: {check}."
    )
    path = found.path or "the defaults, there is no config.yaml"
    kept = STORED if own.store_conversations else NOT_STORED
    st.caption(escape.md(f"{limits} {kept} Settings: {path}. {client.explain_missing_model()}"))
    st.caption(escape.md(own.project_introduction or NO_INTRODUCTION))
    return model


def _draw_empty_library() -> None:
    """That there is nothing to answer from, where that is so."""
    added_only = not st.session_state.get(READ_PAGES_KEY)
    if st.session_state.get(PLACE_KEY) == bot_services.DEMO or client.library().count(added_only=added_only):
        return
    empty_state.draw(
        "The knowledge base is empty" if added_only else "The library is empty",
        "Every reply would be silence. Add documents to the library, or answer from the demo knowledge base.",
    )
    ui.link("pages/library.py", "Add documents", "note_add", {"view": "add"})


def _draw_interpretation(messages: list[Message], *, stored: bool) -> None:
    """How the text is read, message by message, with a button that swaps the speaker."""
    with st.container(border=True, key="reply-read-as"):
        st.html('<div class="ts"><p class="small soft">Read as</p></div>')
        for n, message in enumerate(messages):
            with st.container(horizontal=True, vertical_alignment="center", key=f"reply-message-{n}"):
                st.html(f'<div class="ts">{transcript.render_bubble(message)}</div>', width="stretch")
                which = escape.md(message.text or "a picture", 40)
                other = "user" if message.role == "bot" else "bot"
                label = f"Make it the {other}’s *{which}*"
                ui.button(
                    label, f"reply-turn-{n}", _swap_speaker, n, stored, icon="swap_horiz", type="tertiary"
                )


def _draw_bot_help(*, stored: bool) -> None:
    """How a bot asks: a request to copy, what comes back, and the two doors; `stored`: conversations are."""
    config, screen = client.workbench().config, str(st.context.url or "http://localhost:8501/")
    token = "API_TOKEN" if config.has_login else "REPLY_TOKEN" if config.REPLY_TOKEN else ""
    kept = "listed below" if stored else "not stored"
    with st.expander("Let a bot ask", icon=":material/smart_toy:", key="reply-bot", type="compact"):
        st.markdown(
            "**POST /reply** answers from the knowledge base, always with `should_reply` and `reply_text`; "
            f"without a reply the text is empty. What was asked is {kept}.\n\n**POST /messages** takes one "
            f"message at a time (with `channel` and `user`), waits for {config.REPLY_WINDOW:g} s of quiet "
            f"and answers what came as one. {KEY_HELP[token]} **GET /metrics** counts for Prometheus."
        )
        door = f"{screen.partition('?')[0].rpartition('/')[0]}/reply"
        key = f' -H "authorization: Bearer ${token}"' if token else ""
        asked = f"curl -s {door} -H 'content-type: application/json'{key} -d '{json.dumps(EXAMPLE_BODY)}'"
        st.code(asked, language=None, wrap_lines=True)


def _swap_speaker(n: int, stored: bool) -> None:
    messages = transcript.parse_messages(drafts.read(CONVERSATION))
    swapped = transcript.format_messages(transcript.swap_speaker(messages, n))
    drafts.write(CONVERSATION, swapped, stored=stored)


def _start_typed(model: str) -> None:
    """Start with the place chosen now: the button was drawn with the choice before."""
    messages = transcript.parse_messages(drafts.read(CONVERSATION))
    _start(messages, st.session_state[PLACE_KEY], model, CONVERSATION)


def _start_example(example: form_page.Example, model: str) -> None:
    _start([Message(**message) for message in example["messages"]], bot_services.DEMO, model)


def _start(messages: list[Message], place: str, model: str, *sent: str) -> None:
    def _begin() -> str:
        if not messages:
            raise UsageError("there is no conversation yet: type or paste one, or try an example")
        chosen: Any = {"model": model, "include_read_pages": st.session_state.get(READ_PAGES_KEY)}
        asked = Conversation(messages=messages), bot_services.build_context(place)
        return bot_services.get_service(place).start_reply(*asked, **chosen)

    form_page.start_run(_begin, sent=sent)
