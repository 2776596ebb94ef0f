"""The first screen of Reply: the conversation as text with how it is read beneath, where to answer from, examples, the latest replies."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from agent.response_config import ResponseConfig
from agent.types import Run, Status
from agent.types.reply import Conversation, Message
from agent.wording import counted
from pages.widgets import conversation, door, drafts, empty, reply_bot, reply_desk, safe, words

HERE = Path(__file__).parent
TEXT, DRAFT = "reply-text", "reply:conversation"
PLACE, MODEL = "reply-place", "reply-model"
EXAMPLES = (
    ("A question the pages answer", "User: How do I install Fyrvakt on Debian?"),
    ("A follow-up", "User: What does the Harbour edition cost?\nYou: Harbour costs 48 euros a year for up to 25 machines.\nUser: And for a school?"),
    ("Thanks, and nothing else", "User: thanks, that did it!"),
    ("Not in the pages", "User: Can Fyrvakt water my plants while I am away?"),
)
HINT = "User: How do I install it on Debian?\nYou: Which version do you have?\nUser: 12, on a small server"


def draw() -> None:
    """The whole screen."""
    st.html(HERE / "talk.css")
    st.html(
        '<div class="ts ts-hero"><h1>Reply, or stay silent.</h1><p>Give a conversation from a forum or a chat. Touchstone decides whether it can be '
        "answered, chooses sources from the index, writes only what they say, and says nothing when it is not sure.</p></div>"
    )
    door.show_notice("reply")
    drafts.keep()
    found, wrong = reply_desk.settings()
    if found is None:
        st.warning(safe.md(f"The settings of Reply cannot be used: {wrong}"), icon=":material/warning:")
        return
    with st.container(key="reply-ask"):
        text = drafts.area("The conversation, oldest message first", TEXT, DRAFT, placeholder=HINT, height=150)
        st.caption("Begin a message with User: or with You: for what the bot said. Text without a label is a person's.")
        _choices(found)
    messages = conversation.read(text)
    if messages:
        _read_as(messages)
    if st.session_state.get(PLACE) != reply_desk.DEMO and not door.holdings().count():
        empty.draw("The library is empty", "Every reply would be silence. Add documents to the library, or answer from the demo knowledge base.")
        st.page_link("pages/library.py", label="Add documents", icon=":material/note_add:", query_params={"view": "add"})
    left, right = st.columns(2, gap="small")
    with left:
        _introduction(found)
    with right:
        reply_bot.draw()
    _examples()
    _recent()


def _choices(found: ResponseConfig) -> None:
    places, active = reply_desk.places(), door.workbench().active()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.selectbox("Answer from", list(places), key=PLACE, format_func=places.get, filter_mode=None, width=300)
        models = ["auto", "keyless"] if active.model else ["keyless"]
        model = st.selectbox(
            "Who thinks", models, format_func=lambda name: f"Model: {active.model}" if name == "auto" else "No model (rules and quotes only)",
            key=MODEL, filter_mode=None, width=280,
        )  # fmt: skip
        st.button("Reply", type="primary", icon=":material/reply:", key="reply-start", shortcut="Ctrl+Enter", on_click=_start, args=(place, model))
    own = found.settings
    check = "the draft is verified" if own.enable_verification else "the draft is not verified (enable_verification is off)"
    within = words.duration(own.graph_timeout_seconds)
    most = f"Up to {counted(own.max_sources, 'source')} and {own.max_answer_chars:,} characters, within {within}"
    st.caption(safe.md(f"{most}; {check}. Settings: {found.path or 'the defaults, there is no config.yaml'}. {door.model_trouble()}"))


def _read_as(messages: list[Message]) -> None:
    """How the text is read, message by message, with a way to say that the other side said it."""
    with st.container(border=True, key="reply-read-as"):
        st.html('<div class="ts"><p class="small soft">Read as</p></div>')
        for n, message in enumerate(messages):
            with st.container(horizontal=True, vertical_alignment="center", key=f"reply-message-{n}"):
                st.html(f'<div class="ts">{conversation.bubble(message)}</div>', width="stretch")
                which = safe.md(message.text or "a picture", 40)
                other = f"Make it a person’s *{which}*" if message.role == "bot" else f"Make it the bot’s *{which}*"
                st.button(other, key=f"reply-turn-{n}", icon=":material/swap_horiz:", type="tertiary", on_click=_turn, args=(n,))


def _introduction(found: ResponseConfig) -> None:
    text = found.settings.project_introduction
    with st.expander("The project’s introduction" if text else "Introduce your project", icon=":material/badge:", key="reply-introduction"):
        if text:
            st.text(text)
        else:
            st.html(
                '<div class="ts small"><p>A few sentences on what the project is help every step to tell what belongs to it. Write them as '
                "<code>ai_response.project_introduction</code> in <code>config.yaml</code> (see <code>config.example.yaml</code>).</p></div>"
            )


def _turn(n: int) -> None:
    text = conversation.write(conversation.turned(conversation.read(st.session_state.get(TEXT) or ""), n))
    st.session_state[TEXT] = text
    door.workbench().draft(DRAFT, text)


def _start(place: str, model: str) -> None:
    _reply(st.session_state.get(TEXT) or "", place, model, typed=True)


def _reply(text: str, place: str, model: str, *, typed: bool) -> None:
    messages = conversation.read(text)
    if not messages:
        door.notice("warning", "There is no conversation yet: type or paste what was said, or take an example.")
        return

    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        if typed:
            drafts.sent(TEXT, DRAFT)

    door.tell(lambda: reply_desk.service(place).begin(Conversation(messages=messages), reply_desk.context(place), model=model), then=opened)


def _examples() -> None:
    if reply_desk.DEMO not in reply_desk.places():
        return
    st.html(
        '<div class="ts"><h2 class="ts-section">Try it on the demo knowledge base</h2><p class="soft small">Four invented pages on an invented '
        "program: two conversations that are answered, two that end in silence.</p></div>"
    )
    with st.container(key="reply-examples"), st.grid(4, min_column_width=230, gap="small"):
        for n, (title, text) in enumerate(EXAMPLES):
            last = conversation.read(text)[-1].text
            label = f"{safe.md(last)}  \n:gray[{safe.md(title)}]"
            st.button(label, key=f"reply-example-{n}", on_click=_example, args=(text,), width="stretch", wrap=True)


def _example(text: str) -> None:
    _reply(text, reply_desk.DEMO, "auto", typed=False)


def _recent() -> None:
    runs = [run for run in door.workbench().runs() if run.settings.flow == "reply"][:6]
    st.html('<div class="ts"><h2 class="ts-section">The latest replies</h2></div>')
    if not runs:
        empty.draw("Nothing was asked yet", "Paste a conversation above, or take an example. What a bot asks is listed here, too.")
        return
    with st.container(gap="xxsmall", key="reply-recent"):
        for run in runs:
            label = f"{safe.md(run.question, 100)}  :gray[{stands(run)}, {words.ago(run.updated_at)}]"
            st.page_link("pages/reply.py", label=label, query_params={"run": run.id}, icon=":material/chevron_right:")


def stands(run: Run) -> str:
    """How a reply ended, in a word."""
    if run.status is Status.DONE:
        return "silence" if run.verdict in ("", "no_evidence") else "replied"
    return words.STATUS[run.status].lower()
