"""What stands around every screen: page settings, the stylesheet, the mark, and the list of screens."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.errors import SignInRefused
from pages.widgets.shell import client, drafts, sign_in, url_state

LOGO_SHAPE = """<path d="M3 17 C2 9 8 3 15 3 C22 3 26 9 25 16 C24 23 18 26 12 25 C7 24 4 22 3 17 Z" fill="#3c4744"/>
<path d="M8.5 19.5 L19.5 8.5" stroke="#e0b252" stroke-width="3.2" stroke-linecap="round"/>"""
"""A dark stone with a streak of gold: how gold was tested."""
ICON = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28" width="64" height="64">{LOGO_SHAPE}</svg>'
)
LOGO = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 150 28" width="150" height="28">{LOGO_SHAPE}
<text x="33" y="20" font-family="'Source Serif 4',Georgia,serif" font-size="18.5" font-weight="600" class="ink">Touchstone</text>
<style>.ink {{ fill: #1f2421 }} @media (prefers-color-scheme: dark) {{ .ink {{ fill: #ebe8e1 }} }}</style></svg>"""
STYLE = b"<style>%s</style>" % (Path(__file__).parent / "style.css").read_bytes()


class StyleMiddleware:
    """ASGI middleware: the stylesheet stands at the end of the page that loads Streamlit, compressed with it.
    Drawn as an element it would come after the others and move them all."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.styled = app, GZipMiddleware(self._add_style)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        may_be_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        await (self.styled if may_be_page else self.app)(scope, receive, send)

    async def _add_style(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = False

        async def with_style(message: Message) -> None:
            nonlocal is_page
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = message["status"] == 200 and headers.get("content-type", "").startswith("text/html")
                if is_page:
                    headers["content-length"] = str(int(headers["content-length"]) + len(STYLE))
                    del headers["etag"], headers["last-modified"]
            elif is_page and not message.get("more_body"):
                message["body"] += STYLE
            await send(message)

        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self.app({**scope, "headers": plain}, receive, with_style)


def draw() -> None:
    """Draw the frame and run the screen that was asked for. Called once a script run."""
    st.set_page_config(
        page_title="Touchstone", page_icon=ICON, layout="wide", initial_sidebar_state="collapsed"
    )
    url_state.sync()
    st.logo(LOGO, size="large", link=None)
    screen = st.navigation(_list_screens(), position="top" if sign_in.is_open() else "hidden")
    sign_in.require_sign_in()
    screen.run()
    drafts.install_script()  # last: it takes no room, but it takes its time
    # What is repeated lets a browser ask for the whole page when it comes back to a server that does not know it.
    st.fragment(lambda: None, run_every="1d")()


def _list_screens() -> dict[str, list[Any]]:
    """The screens, those used most first; the others under "More". Those of people only where people sign
    in."""
    has_login = client.benches().accounts is not None
    people = [
        st.Page("pages/you.py", title="You", icon=":material/account_circle:"),
        st.Page("pages/people.py", title="People", icon=":material/group:", visibility=_for_admins()),
        st.Page("pages/shared.py", title="Shared run", icon=":material/share:", visibility="hidden"),
    ]
    hidden: Any = {"visibility": "hidden"}
    return {
        "": [
            st.Page("pages/research.py", title="Research", default=True),
            st.Page("pages/chat.py", title="Chat"),
            st.Page("pages/check_text.py", title="Check a text"),
            st.Page("pages/library.py", title="Library"),
            st.Page("pages/runs.py", title="Runs"),
            st.Page("pages/schedules.py", title="Schedules"),
        ],
        "More": [
            st.Page("pages/site.py", title="Ask a site", icon=":material/forum:"),
            st.Page("pages/collect.py", title="Collect", icon=":material/inventory_2:"),
            st.Page("pages/reply.py", title="Reply", icon=":material/reply:"),
            st.Page("pages/batch.py", title="Batch", icon=":material/playlist_add_check:"),
            st.Page("pages/settings.py", title="Settings", icon=":material/tune:"),
            st.Page("pages/compare.py", title="Compare two runs", **hidden),
            st.Page("pages/page.py", title="Stored page", **hidden),
            st.Page("pages/verify_again.py", title="Verify again", **hidden),
            *(people if has_login else []),
        ],
    }


def _for_admins() -> Literal["visible", "hidden"]:
    try:
        owner = client.person()
    except SignInRefused:
        owner = None
    return "visible" if owner and owner.is_admin else "hidden"
