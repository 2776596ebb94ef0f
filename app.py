"""What `streamlit run app.py` starts. It knows no question and no run.

Streamlit finds `app` here, imports this file once and serves it: headers, health, warm-up, the workers' life.
For every browser session it then runs this same file as a script, which draws the page around the screen that
was asked for."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from pages.widgets.shell import layout, server

if __name__ == "__main__":
    layout.draw()
else:
    app = st.App(
        __file__,
        secrets=server.prepare_start(),
        lifespan=server.lifespan,
        routes=server.ROUTES,
        middleware=[*server.MIDDLEWARE, Middleware(layout.StyleMiddleware)],
        on_script_error=server.handle_script_error,
    )
