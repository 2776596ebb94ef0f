"""How a bot asks: the HTTP door of Reply, told on its screen with a request that can be copied. The door
itself is in `reply_door`."""

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
    """An expander with the request, what comes back, and the two doors beside it; `stored`: whether
    conversations are."""
    with st.expander("Let a bot ask", icon=":material/smart_toy:", key="reply-bot"):
        config = client.workbench().config
        st.html(
            '<div class="ts small">'
            f"{render_help(config.REPLY_WINDOW, token=bool(config.REPLY_TOKEN), stored=stored)}</div>"
        )
        st.code(
            format_request(str(st.context.url or DEFAULT_URL), token=bool(config.REPLY_TOKEN)),
            language=None,
            wrap_lines=True,
        )


def format_request(screen: str, *, token: bool) -> str:
    """The request as a line for a shell. `screen` is the address of the Reply screen: the door is beside
    it."""
    head = [
        "curl",
        "-s",
        f"{screen.partition('?')[0].rpartition('/')[0]}/reply",
        "-H",
        "content-type: application/json",
    ]
    sent = [
        *head,
        *(["-H", "authorization: Bearer $REPLY_TOKEN"] if token else []),
        "-d",
        json.dumps(EXAMPLE_BODY),
    ]
    return " ".join(f'"{part}"' if "$" in part else shlex.quote(part) for part in sent)


def render_help(window: float, *, token: bool, stored: bool = False) -> str:
    """What the door answers, as HTML."""
    key = (
        "Both want the token of <code>REPLY_TOKEN</code>. "
        if token
        else "Set <code>REPLY_TOKEN</code> to let only those ask who know it. "
    )
    kept = "listed below" if stored else "not stored"
    return (
        "<p><b>POST /reply</b> answers from the knowledge base, always with <code>should_reply</code> and "
        f"<code>reply_text</code>; when it stays silent, the text is empty. What was asked is {kept}.</p>"
        "<p><b>POST /messages</b> takes one message at a time (with <code>channel</code>"
        " and <code>user</code>), waits for "
        f"{window:g} seconds of quiet and answers what came as one. {key}<b>GET "
        "/metrics</b> counts for Prometheus.</p>"
    )
