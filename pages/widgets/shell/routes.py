"""Which screen shows the runs of which flow."""

from __future__ import annotations

from agent.settings.config import ROOT

FRONT_PAGE = "pages/research.py"


def page_for_flow(flow: str) -> str:
    """The file of the screen for a flow's runs; the front page where a flow has none."""
    file = f"pages/{flow.removesuffix('_simple')}.py"
    return file if flow.isidentifier() and (ROOT / file).is_file() else FRONT_PAGE
