"""A bundle imported as a run: verified first, then stored as it is, at rest and marked as imported.

Its pages are kept for its quotes and stay out of the library until they are fetched here. A run that would go
on rests until a person resumes it, within the limits that can be set here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.actions import validation
from agent.actions.bundle_verify import BundleVerification, verify_bundle
from agent.actions.context import ActionContext
from agent.engine.state import Change, to_jsonable
from agent.errors import BundleError, UsageError
from agent.export import bundle
from agent.flows import FLOWS
from agent.llm.structured_call import compute_call_key
from agent.store.ledger import new_id, utc_timestamp
from agent.types import ModelCall, Refusal, Settings, Status, Step

_RUN_ID = re.compile("[0-9a-f]{12}")
RESTING_STATUSES = (Status.PAUSED, Status.STOPPED, Status.FAILED)


@dataclass(frozen=True)
class ImportedRun:
    """The run's id here, its id in the bundle, and the verification."""

    run_id: str
    original_id: str
    verification: BundleVerification

    @property
    def is_renamed(self) -> bool:
        """Did it get another id, because its own was taken?"""
        return self.run_id != self.original_id


def import_bundle(bench: ActionContext, data: bytes) -> ImportedRun:
    """Import a bundle as a run. Raises BundleError, and stores nothing, when it does not verify or an
    earlier version made it."""
    verified = verify_bundle(data)
    contents, state = verified.contents, verified.state
    if contents is None or state is None or verified.problems:
        problem = verified.problems[0] if verified.problems else "it holds nothing"
        raise BundleError(f"this bundle cannot be imported: {problem}")
    if contents.version == bundle.FORMER_VERSION:
        raise BundleError(
            "this bundle cannot be imported: an earlier Touchstone made it. It verifies (`verify`), and "
            f"{bundle.LAST_READER} opens it as a run"
        )
    flow, last, original = FLOWS[contents.run.settings.flow], contents.steps[-1], contents.run
    settings = validation.clamp_imported_settings(original.settings)
    try:
        validation.check_sources(settings)
    except UsageError as wrong:
        raise BundleError(f"this bundle cannot be imported: {wrong}") from wrong
    step = Step(
        n=last.n + 1,
        name="import",
        change=_build_change(original.settings, settings, last.n + 1),
        next=last.next,
        by="person",
        at=utc_timestamp(),
    )
    status = original.status
    if status not in RESTING_STATUSES:
        status = flow.rest_statuses.get(last.next, Status.PAUSED)
    for page in contents.pages.values():
        bench.store.pages.add_if_absent(page)
    columns = {"status": status, "settings": settings, "imported": verified.sha256, "updated_at": step.at}
    run_id, steps, summary = original.id, [*contents.steps, step], state.summary()
    if not _RUN_ID.fullmatch(run_id):
        run_id = new_id()
    while not bench.store.ledger.add_if_absent(original.replace(id=run_id, **columns), steps, **summary):
        run_id = new_id()
    bench.store.calls.adopt(run_id, contents.calls, keep_key=lambda call: _has_own_key(call, run_id))
    return ImportedRun(run_id, original.id, verified)


def _build_change(old: Settings, new: Settings, n: int) -> Change:
    """The change of the import: nothing, or the settings as they may be here with what was changed."""
    if new == old:
        return {}
    refusals: list[Refusal] = []
    if new.world != old.world:
        why = "it is a folder of another machine: the run uses the live web here"
        refusals.append(Refusal(what=f"the world {old.world[:80]}", why=why, step=n))
    if new != old.replace(world=new.world):
        why = "they were reduced to those that can be set here"
        refusals.append(Refusal(what="the limits of the bundle", why=why, step=n))
    return to_jsonable({"settings": new, "refusals": refusals})


def _has_own_key(call: ModelCall, run_id: str) -> bool:
    """Is its key the one that this run would make of the same prompt?"""
    key = compute_call_key(call.run_id, call.step, call.attempt, call.prompt)
    return (call.key, call.run_id) == (key, run_id)
