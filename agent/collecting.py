"""Collecting as a call: start a run, drive it, take what it gathered; and what a person says to a path that is shown before it is walked.

    found = run_agent("What do members say about Kallsteg?", ["https://borskvart.example/stock/KALL"], max_articles=5, world="demo")

Like the workbench it holds no state; the store has everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent import starting
from agent.errors import Overtaken, TouchstoneError, UsageError
from agent.export import collected
from agent.export.collected import Collection
from agent.flows.collect_state import Collect
from agent.state import jsonable
from agent.text import refusals
from agent.types import CollectLimits, Settings, Status
from agent.types.collected import Item
from agent.urls import found_in, typed
from agent.workbench import Workbench

MOST_STARTS = 20


def run_agent(
    prompt: str,
    seed_links: Sequence[str],
    max_articles: int = 10,
    use_smart_navigation: bool = True,
    *,
    max_depth: int = 3,
    world: str = "live",
    model: str = "auto",
    bench: Workbench | None = None,
    watch: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Collect from the start pages and return what was found (see agent.export.collected.record for its keys).

    `use_smart_navigation` False follows all links of the start pages and takes each page as an article. `watch` is called with
    the run's id after each step. Raises UsageError when something cannot be, TouchstoneError when the run failed.
    """
    opened = bench or Workbench()
    limits = CollectLimits(max_articles=max_articles, max_depth=max_depth, use_smart_navigation=use_smart_navigation)
    try:
        run_id = start(opened, prompt, seed_links, Settings(world=world, model=model, collect=limits))
        status = opened.drive(run_id, watch=(lambda: watch(run_id)) if watch else None)
        if status is not Status.REVIEW:
            raise TouchstoneError(f"the run {run_id} is {status.value}: {opened.view(run_id).run.error or 'it did not reach its digest'}")
        return collected.record(collection(opened, run_id))
    finally:
        if bench is None:
            opened.shutdown()


def start(bench: Workbench, prompt: str, seed_links: Sequence[str], settings: Settings) -> str:
    """A new collecting run from the start pages and the addresses in the prompt (but not those it rules out); returns its id.

    Raises UsageError when there is no start page or a limit cannot be.
    """
    return bench.start(prompt, checked(prompt, seed_links, settings))


def checked(prompt: str, seed_links: Sequence[str], settings: Settings) -> Settings:
    """The settings a run from these start pages is started with. Raises UsageError as `start` does; nothing is opened for it."""
    given = list(dict.fromkeys([*(typed(link) for link in seed_links if link.strip()), *found_in(refusals.split(prompt)[0])]))
    if len(given) > MOST_STARTS:
        raise UsageError(f"{len(given)} start pages are named; {MOST_STARTS} are the most")
    limits = settings.collect
    for what, value in (("article or thread", limits.max_articles), ("page", limits.max_pages), ("level of depth", limits.max_depth)):
        if value < 1:
            raise UsageError(f"a collecting run needs at least one {what}, not {value}")
    asked = starting.spelled(settings.model_copy(update={"flow": "collect", "start_urls": given}))
    starting.check(prompt.strip(), asked, (asked.flow,))
    return asked


def collection(bench: Workbench, run_id: str) -> Collection:
    """What a run gathered up to now, articles with their whole text. Raises NotFound, UsageError for a run of another flow."""
    view = bench.view(run_id)
    state = view.state
    if not isinstance(state, Collect):
        raise UsageError(f"run {run_id} collected nothing: it is a {view.run.settings.flow} run")
    kept = [item.model_copy(update={"content": _content(bench, item)}) for item in state.kept]
    return Collection(
        run=view.run, intent=state.wanted, items=kept, dropped=[item for item in state.items.values() if item.status == "dropped"],
        tree=sorted(state.tree.values(), key=lambda branch: branch.path), answer=state.answer, usage=view.usage, refusals=state.refusals,
        events=state.events,
    )  # fmt: skip


def walk(bench: Workbench, run_id: str, head: int, *, leave_out: Sequence[str] = (), ask_again: bool = True) -> None:
    """Walk the path that is shown, without the pages `leave_out` (ids of branches); with `ask_again` False, to the end without asking.

    Raises Overtaken when the run moved since step `head` or waits for nothing.
    """
    view = bench.view(run_id)
    state = view.state
    if view.run.status is not Status.WAITING or not isinstance(state, Collect):
        raise Overtaken(f"there is no path to approve now: the run is {view.run.status.value}")
    left = [state.tree[name].model_copy(update={"status": "dropped", "ended": "Left out by you."}) for name in leave_out if name in state.tree]
    change: dict[str, Any] = {"pending": None, "tree": left}
    if not ask_again:
        change["settings"] = state.settings.model_copy(update={"mode": "auto"})
    bench.store.ledger.speak(run_id, "approve", jsonable(change), next="decide", head=head, status=Status.RUNNING, control="")
    bench.worker.kick(run_id)


def _content(bench: Workbench, item: Item) -> str:
    """An article's text: what was extracted, or its piece of the stored page."""
    if item.content or item.kind != "article" or not item.page_ids:
        return item.content
    return bench.page(item.page_ids[0]).text[item.start : item.end if item.end >= 0 else None].strip()
