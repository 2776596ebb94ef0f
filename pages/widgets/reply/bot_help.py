"""How a bot asks: the HTTP door of Reply (see `reply_door`), with a request that can be copied."""

from __future__ import annotations

import json

import streamlit as st

from pages.widgets.shell import client

EXAMPLE_BODY = {
    "conversation": [{"role": "user", "text": "How do I install it?"}],
    "platform": "forum",
    "channel": "help",
}
DEFAULT_URL = "http://localhost:8501/"
KEY_HELP = {
    "": "Set `REPLY_TOKEN` to let only those ask who know it.",
    "REPLY_TOKEN": "Both want the token of `REPLY_TOKEN`.",
    "API_TOKEN": "Both want a token of yours: make one on the screen **You**.",
}


def draw(*, stored: bool) -> None:
    """An expander with the request, what comes back, and the two doors; `stored`: conversations are."""
    config = client.workbench().config
    token = "API_TOKEN" if config.has_login else "REPLY_TOKEN" if config.REPLY_TOKEN else ""
    kept = "listed below" if stored else "not stored"
    with st.expander("Let a bot ask", icon=":material/smart_toy:", key="reply-bot", type="compact"):
        st.markdown(
            "**POST /reply** answers from the knowledge base, always with `should_reply` and `reply_text`; "
            f"without a reply the text is empty. What was asked is {kept}.\n\n**POST /messages** takes one "
            f"message at a time (with `channel` and `user`), waits for {config.REPLY_WINDOW:g} s of quiet "
            f"and answers what came as one. {KEY_HELP[token]} **GET /metrics** counts for Prometheus."
        )
        st.code(format_request(str(st.context.url or DEFAULT_URL), token), language=None, wrap_lines=True)


def format_request(screen: str, token: str) -> str:
    """The request as a line for a shell. `screen` is the address of the Reply screen: the door is beside it;
    `token` the name of the variable with the token, "" where none is needed."""
    door = f"{screen.partition('?')[0].rpartition('/')[0]}/reply"
    key = f' -H "authorization: Bearer ${token}"' if token else ""
    return f"curl -s {door} -H 'content-type: application/json'{key} -d '{json.dumps(EXAMPLE_BODY)}'"
