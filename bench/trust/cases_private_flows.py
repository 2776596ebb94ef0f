"""Cases of private notes beyond research: runs of site and collect, batches, and what of one's own data is to be
read."""

from __future__ import annotations

import io
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from typing import Any

from agent.accounts.accounts import Accounts
from agent.actions.export import export_run, list_formats, render_shared_run
from agent.actions.personal_data import write_personal_data
from agent.batch import jobs
from agent.batch.csv_input import read_sheet
from agent.settings import config
from agent.types import BatchBudget, Settings, Status
from agent.workbench import Workbench
from bench.trust.scorecard import Bench, Result, case
from tests.agent.accounts.conftest import make_claims
from tests.agent.flows.test_traitor import PAGES, walk
from tests.web.private_run import find_canaries
from tests.web.scripted import ScriptedModel
from tests.web.site import Site

NOTES = ("Look for Zyxantor of Brunnby, who must stay unnamed.", "Quibblor wants the pier, too.")
WORDS = ("Zyxantor", "Brunnby", "Quibblor")


@case(
    "S9.8",
    "Private notes in runs of site and collect, in batches and in the copy of one's own data",
    "0 of their words in any export, share, table or readable file",
    quick=True,
)
def other_ways_out(bench: Bench) -> Result:
    with tempfile.TemporaryDirectory() as folder, Site(PAGES) as site:
        own = {"TOUCHSTONE_DATA": folder, "FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0", "OLLAMA_URL": ""}
        opened = Workbench(config.read_config(own | {"EMBEDDING_MODEL": "off"}))
        scripted = ScriptedModel(walk_on)
        opened.worker.model_client = lambda name, fast="": (scripted if name != "keyless" else None, "")  # type: ignore[method-assign]
        accounts = Accounts(opened.config)
        try:
            made = list(list_ways_out(opened, accounts, site))
        finally:
            accounts.close()
            opened.shutdown()
    misses = [f"{name}: {', '.join(found)}" for name, body in made if (found := find_canaries(body, WORDS))]
    return Result(len(made), f"{len(misses)} of {len(made)} files and documents hold one", misses)


def walk_on(messages: list[dict[str, str]], shape: Any) -> Any:
    """As `walk`, with a reply of the writers too: without one a run rests."""
    written = {"DraftReply": {"refusal": "not_covered", "message": "No."}, "DigestReply": {"open": "All."}}
    return written.get(shape.__name__) or walk(messages, shape)


def list_ways_out(opened: Workbench, accounts: Accounts, site: Site) -> Iterator[tuple[str, bytes]]:
    """Each file and document that these runs can leave in, by name."""
    for flow in ("site", "collect"):
        settings = Settings(flow=flow, world="live", start_urls=[site.url("/")])
        run_id = opened.start("Collect the news of the ferry Vinga", settings)
        opened.act(run_id, "steer", note=NOTES[0], private=True)
        send_back(opened, run_id)
        for chosen in list_formats(flow):
            yield f"{chosen.name} of {flow}", export_run(opened, run_id, chosen.name)
        yield f"the share of {flow}", render_shared_run(opened, run_id).document.encode()
        yield f"--json of {flow}", repr(opened.as_json(run_id)).encode()
    settings = Settings(world="demo", model="keyless", max_steps=3, max_pages=3)
    sheet = read_sheet(b"question\nHow many people does \xc3\x84lvmora Mejeri employ?\n", settings)
    batch = jobs.create(opened, "test", sheet, settings, BatchBudget())
    now = jobs.drive(opened, batch, lambda _now: None, threading.Event())
    for row in now.rows:
        send_back(opened, row.run_id)
    yield "the table of a batch", jobs.export_csv(opened, batch).encode()
    yield "the JSON of a batch", jobs.export_json(opened, batch).encode()
    person = accounts.people.recognize(make_claims("ann"))
    with zipfile.ZipFile(io.BytesIO(write_personal_data(opened, accounts, person))) as packed:
        for name in packed.namelist():
            if not name.endswith(".db"):
                yield f"{name} of one's own data", packed.read(name)


def send_back(opened: Workbench, run_id: str) -> None:
    """Finish the run, and send its answer back with a private note."""
    assert opened.drive(run_id) is Status.REVIEW, opened.snapshot(run_id).run.error
    opened.act(run_id, "send_back", opened.snapshot(run_id).head, note=NOTES[1], private=True)
    assert opened.drive(run_id) is Status.REVIEW, opened.snapshot(run_id).run.error
    assert any(word in opened.snapshot(run_id).state.model_dump_json() for word in WORDS)
