"""The Export menu of a run: every format it can leave in. A file is made when it is asked for, not before."""

from __future__ import annotations

import functools
import re
import unicodedata

import streamlit as st

from agent.actions.export import DATA, SEND, describe_withheld, export_run, list_formats
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.people import share_dialog
from pages.widgets.shell import client, ui

LETTER_REPLACEMENTS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
"""Letters that do not come apart into a plain one and its mark."""


def draw(view: RunSnapshot) -> None:
    """The button, and behind it the formats by what they are for."""
    run_id = view.run.id
    share_dialog.draw(view)
    more = {"key": f"export-{run_id}", "on_change": "rerun", "help": "Take the answer along as a file"}
    opened = st.popover("Export", icon=":material/download:", **more)  # type: ignore[call-overload]
    if not opened.open:
        return
    name, bench = make_file_name(view.run.question), client.workbench()
    with opened, st.container(gap="xsmall"):
        if told := describe_withheld(bench, run_id):
            st.caption(told)
        for kind in (SEND, DATA):
            st.caption(kind)
            with st.container(horizontal=True, key=f"export-{run_id}-{kind.split()[-1]}"):
                for chosen in list_formats(view.run.settings.flow):
                    if chosen.group == kind:
                        busy = chosen.name == "bundle" and view.run.status is Status.RUNNING
                        about = chosen.description[:1].upper() + chosen.description[1:]
                        ui.download(
                            chosen.label,
                            f"export-{run_id}-{chosen.name}",
                            functools.partial(export_run, bench, run_id, chosen.name),
                            f"{name}.{chosen.extension}",
                            chosen.mime,
                            disabled=busy,
                            help="The run is at work; a bundle is made of one that rests" if busy else about,
                        )


def make_file_name(question: str) -> str:
    """A short, harmless file name from a question."""
    letters = unicodedata.normalize("NFKD", question.lower().translate(LETTER_REPLACEMENTS))
    plain = "".join(c for c in letters if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "report"
