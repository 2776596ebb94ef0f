"""How a bot asks: the HTTP door of Reply (see `reply_door`), with a request that can be copied."""

from __future__ import annotations

import json
import shlex

import streamlit as st

from pages.widgets.shell import client

EXAMPLE_BODY = {
    "conversation": [{"role": "user", "text": "How do I install it?"}],
    "platform": "forum",
    "channel": "help",
}
DEFAULT_URL = "http://localhost:8501/"


def draw(*, stored: bool) -> None:
    """An expander with the request, what comes back, and the two doors; `stored`: conversations are."""
    with st.expander("Let a bot ask", icon=":material/smart_toy:", key="reply-bot"):
        config = client.workbench().config
        token = "API_TOKEN" if config.has_login else "REPLY_TOKEN" if config.REPLY_TOKEN else ""
        st.html(f'<div class="ts small">{render_help(config.REPLY_WINDOW, token, stored=stored)}</div>')
        st.code(
            format_request(str(st.context.url or DEFAULT_URL), token),
            language=None,
            wrap_lines=True,
        )


def format_request(screen: str, token: str) -> str:
    """The request as a line for a shell. `screen` is the address of the Reply screen: the door is beside it;
    `token` the name of the variable with the token, "" where none is needed."""
    head = [
        "curl",
        "-s",
        f"{screen.partition('?')[0].rpartition('/')[0]}/reply",
        "-H",
        "content-type: application/json",
    ]
    sent = [
        *head,
        *(["-H", f"authorization: Bearer ${token}"] if token else []),
        "-d",
        json.dumps(EXAMPLE_BODY),
    ]
    return " ".join(f'"{part}"' if "$" in part else shlex.quote(part) for part in sent)


KEY_HELP = {
    "": "Set <code>REPLY_TOKEN</code> to let only those ask who know it. ",
    "REPLY_TOKEN": "Both want the token of <code>REPLY_TOKEN</code>. ",
    "API_TOKEN": "Both want a token of yours: make one on the screen <b>You</b>. ",
}


def render_help(window: float, token: str, *, stored: bool = False) -> str:
    """What the door answers, as HTML; `token` as in `format_request`."""
    kept = "listed below" if stored else "not stored"
    return (
        "<p><b>POST /reply</b> answers from the knowledge base, always with <code>should_reply</code> and "
        f"<code>reply_text</code>; when it stays silent, the text is empty. What was asked is {kept}.</p>"
        "<p><b>POST /messages</b> takes one message at a time (with <code>channel</code>"
        " and <code>user</code>), waits for "
        f"{window:g} seconds of quiet and answers what came as one. {KEY_HELP[token]}<b>GET "
        "/metrics</b> counts for Prometheus.</p>"
    )
