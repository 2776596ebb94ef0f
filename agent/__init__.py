"""Touchstone: research you can check. `agent` is everything but the screens; it never imports Streamlit."""

__version__ = "0.1.0"
