"""One research run on the screen: the answer on the left, its evidence on the right. It follows the run while
it works, and looks the same after a refresh or in a second tab."""

from __future__ import annotations

from functools import partial

from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import conflict_list, facts
from pages.widgets.research import first_minute, outline_panel, plan_panel, revision_panel
from pages.widgets.run import (
    answer_pane,
    controls,
    pause_prompt,
    pending_decision,
    progress,
    run_page,
)
from pages.widgets.shell import client, places

PAGE = run_page.RunPage(
    flow="research",
    noun="run",
    new_label="New question",
    hints={Status.WAITING: "Decide on the next step."},
)
TABS = {
    "Sources": run_page.draw_sources,
    "Facts": facts.draw,
    "Conflicts": conflict_list.draw,
    "Plan": plan_panel.draw_tab,
    "Activity": run_page.draw_activity,
}


def _draw_live(view: RunSnapshot) -> None:
    run_page.draw_heading(PAGE, view, revision_panel.render_thread(view))
    client.show_notice("run")
    run_page.draw_panes(view, lambda: _draw_answer(view), TABS, "research-tab")
    controls.draw_bar(view)
    first_minute.draw_hint(view)


@places.in_place
def _draw_answer(view: RunSnapshot) -> None:
    """What it asks its person; the answer, or how far it is."""
    pause_prompt.draw(view)
    if not view.state.answers:
        revision_panel.draw_understood(view)
    outline_panel.draw(view)
    pending_decision.draw(view, _list_engines(view))
    if plan_panel.waits(view):
        plan_panel.draw(view)
    elif not view.state.answers:
        progress.draw(view)
    if not view.state.answers:
        return
    answer_pane.draw(view.state.answers[-1], view)
    outline_panel.draw_rewrite(view)


def _list_engines(view: RunSnapshot) -> dict[str, str]:
    """The engines that a changed decision may use, with their labels."""
    live = view.run.settings.world == "live"
    own = {"duckduckgo": "the world's own index"}
    engines = client.workbench().active_configuration().engines if live else own
    return {name: label for name, label in engines.items() if name in (view.run.settings.engines or engines)}


draw = partial(run_page.draw, PAGE, _draw_live)
