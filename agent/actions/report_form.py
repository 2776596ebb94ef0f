"""What a person does to the form of a report: another length, written from what is known, without new
research."""

from __future__ import annotations

from agent.actions.commit import ANSWERED_STATUSES, GO_ON, PersonStep, commit
from agent.actions.context import ActionContext
from agent.engine.snapshots import RunSnapshot
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.flows.shared.write_report import LENGTH_EDITS
from agent.types import Edit, ReportLength


def rewrite(bench: ActionContext, run_id: str, length: ReportLength, head: int | None = None) -> None:
    """Write the answer of a run again as brief, standard or full; nothing is searched. Raises UsageError for
    another flow than research, and ConcurrentChange when there is no answer to review or the run moved since
    step `head`."""

    def build_step(view: RunSnapshot) -> PersonStep:
        settings = view.run.settings
        if settings.flow != "research":
            raise UsageError(f"a {settings.flow} answer has one length; reports are written by research runs")
        settings = settings.replace(report=length)
        change = {"settings": settings, "edits": [Edit(step=view.head + 1, text=LENGTH_EDITS[length])]}
        columns = {**GO_ON, "settings": settings.model_dump_json()}
        return PersonStep(change, FLOWS[settings.flow].write_up_step, columns)

    commit(bench, run_id, "rewrite", build_step, head=head, among=ANSWERED_STATUSES)
