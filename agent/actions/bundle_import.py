"""A bundle opened as a run: verified first, then put into the store as it is, at rest and marked as imported.

Its pages are kept for its quotes, not put on the library's shelf: they are what somebody else says a page
said, until they are read here. A run that would go on rests instead, until a person resumes it; it then goes
on within the limits that could be set here."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass

from agent.actions import validation
from agent.actions.bundle_verify import BundleVerification, verify_bundle
from agent.engine.state import Change, to_jsonable
from agent.errors import BundleError
from agent.export.bundle import BundleContents
from agent.flows import FLOWS
from agent.llm.structured_call import compute_call_key
from agent.store.ledger import utc_timestamp
from agent.types import ModelCall, Refusal, Settings, Status, Step
from agent.workbench import Workbench

RESTING_STATUSES = (Status.PAUSED, Status.STOPPED, Status.FAILED)


@dataclass(frozen=True)
class ImportedRun:
    """What came of it: the run's id here, the one it had, and whether it got another because its own was
    taken."""

    run_id: str
    original_id: str
    verification: BundleVerification

    @property
    def is_renamed(self) -> bool:
        """Did it get another id?"""
        return self.run_id != self.original_id


def import_bundle(bench: Workbench, data: bytes) -> ImportedRun:
    """Open a bundle as a run. Raises BundleError, and puts nothing in, when it does not verify."""
    found = verify_bundle(data)
    contents, state = found.contents, found.state
    if contents is None or state is None or found.problems:
        raise BundleError(
            f"this bundle is not opened: {found.problems[0] if found.problems else 'it holds nothing'}"
        )
    flow, last = FLOWS[contents.run.settings.flow], contents.steps[-1]
    settings = validation.clamp_imported_settings(contents.run.settings)
    came = Step(
        n=last.n + 1,
        name="import",
        change=_build_change(contents.run.settings, settings, last.n + 1),
        next=last.next,
        by="person",
        at=utc_timestamp(),
    )
    status = (
        contents.run.status
        if contents.run.status in RESTING_STATUSES
        else flow.rest_statuses.get(last.next, Status.PAUSED)
    )
    for page in contents.pages.values():
        bench.store.pages.add_if_absent(page)
    run_id = contents.run.id if _is_run_id(contents.run.id) else _new_id()
    while True:
        marks = {
            "id": run_id,
            "status": status,
            "settings": settings,
            "imported": found.sha256,
            "updated_at": came.at,
        }
        run = contents.run.model_copy(update=marks)
        if bench.store.ledger.add_if_absent(run, [*contents.steps, came], **state.summary()):
            break
        run_id = _new_id()
    bench.store.calls.add_if_absent(_reassign_calls(contents, run_id))
    return ImportedRun(run_id, contents.run.id, found)


def _build_change(was: Settings, settings: Settings, n: int) -> Change:
    """The change of coming in: nothing, or the settings as they may be here, and what is not as it was."""
    if settings == was:
        return {}
    told = []
    if settings.world != was.world:
        told.append(
            Refusal(
                what=f"the world {was.world[:80]}",
                why="it is a folder of another machine: here the run looks in the live web",
                step=n,
            )
        )
    chosen = {name: getattr(settings, name) for name in validation.SOURCE_SETTING_LABELS}
    for name, value in chosen.items():
        if value != (given := getattr(was, name)):
            told.append(
                Refusal(
                    what=f"{validation.SOURCE_SETTING_LABELS[name]} of the bundle: {_join_values(given)}",
                    why=_describe_kept_values(name, value),
                    step=n,
                )
            )
    if settings != was.model_copy(update={"world": settings.world, **chosen}):
        told.append(
            Refusal(
                what="the limits of the bundle",
                why="they are beyond those that can be set here, and were cut to them",
                step=n,
            )
        )
    return to_jsonable({"settings": settings, "refusals": told})


def _join_values(given: str | list[str]) -> str:
    return (given if isinstance(given, str) else ", ".join(given))[:120]


def _describe_kept_values(name: str, value: str | list[str]) -> str:
    """What is left of a choice of sources of which some cannot be, for a person."""
    if value:
        return f"not all of it can be chosen here: {_join_values(value)} is left"
    return f"it cannot be chosen here, so none is set{': every domain may be read' if name == 'allowed_domains' else ''}"


def _is_run_id(run_id: str) -> bool:
    return len(run_id) == 12 and all(c in "0123456789abcdef" for c in run_id)


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def _reassign_calls(contents: BundleContents, run_id: str) -> list[ModelCall]:
    """The calls as calls of this run. A key that is not the one its prompt makes gets another: it must not
    answer for a call of ours."""
    owned = []
    for call in contents.calls:
        true = compute_call_key(call.run_id, call.step, call.attempt, call.prompt)
        kept = (
            call.key
            if (call.key, call.run_id) == (true, run_id)
            else hashlib.sha256(f"{run_id}\n{call.key}".encode()).hexdigest()
        )
        owned.append(call.model_copy(update={"key": kept, "run_id": run_id}))
    return owned
