"""An answer verified again: how each of its quotes stands on its page today. `?run=` names the run."""

from __future__ import annotations

from functools import partial

from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.forms import form_page
from pages.widgets.run import answer_pane, controls, pause_prompt, progress, run_page
from pages.widgets.shell import client, markup, routes, ui

PAGE = run_page.RunPage(
    flow="verify_again",
    noun="verification",
    new_label="Verify another",
    missing_hint="Open a run with an accepted answer, and choose “Verify again” below it.",
    hints={Status.DONE: "", Status.STOPPED: "Nothing is lost: continue, or finish with what was read."},
)


def draw_live(view: RunSnapshot) -> None:
    """The run as it is now: its quotes by how they stand, and the pages they were looked for on."""
    asked = "Do the quotes of its answer still stand on their pages today?"
    run_page.draw_heading(PAGE, view, markup.paragraph(asked, "soft"))
    link = "The answer that is verified", "arrow_back", {"run": view.run.settings.verifies}
    ui.link(routes.FRONT_PAGE, *link)
    client.show_notice("verify-again")
    pause_prompt.draw(view)
    answer = view.state.answer
    run_page.draw_panes(
        view,
        lambda: answer_pane.draw(answer, view) if answer else progress.draw(view),
        {"Sources": run_page.draw_sources, "Activity": run_page.draw_activity},
        "verify-again-tab",
    )
    controls.draw_bar(view)


form_page.draw_screen(
    partial(
        run_page.draw_missing, PAGE.noun, "No answer is named", "pages/runs.py", "Runs", PAGE.missing_hint
    ),
    partial(run_page.draw, PAGE, draw_live),
)
