"""Eight secrets, set on the screen or in the environment, that must not be found in anything that leaves the program or
lies on its disk, even where servers repeat them in their answers."""

from __future__ import annotations

import io
import logging
import sqlite3
import traceback
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from agent import logs
from agent.actions.export import export_run, list_formats
from agent.bot import metrics
from agent.errors import TouchstoneError
from agent.settings.config import read_config
from agent.settings.key_addresses import bind_key, find_address, split_key
from agent.settings.saved import make_key
from agent.store.backup import write_backup
from agent.types import Settings
from agent.workbench import Workbench
from tests.web.model_server import Answer, ModelServer, Request, status
from tests.web.site import Asked, Reply, Site

pytestmark = pytest.mark.slow

SAVED = tuple(
    f"{name}_API_KEY" for name in "OPENAI EMBEDDING GOOGLE BRAVE TAVILY OPENALEX SEMANTIC_SCHOLAR".split()
)
CANARIES = {name: f"canary/{n}+{name.lower()}" for n, name in enumerate((*SAVED, "REPLY_TOKEN"))}
ASKED_ENGINES = ("google", "brave", "tavily", "openalex", "semantic_scholar")


def find_canaries(content: bytes | str) -> list[str]:
    data = content.encode() if isinstance(content, str) else content
    spelled = {name: (secret, quote(secret, safe=""), quote(secret)) for name, secret in CANARIES.items()}
    return [name for name, forms in spelled.items() if any(form.encode() in data for form in forms)]


def find_in_archive(data: bytes) -> list[str]:
    """In each file of a zip file, and in the bytes themselves."""
    if not data.startswith(b"PK"):
        return find_canaries(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [found for name in archive.namelist() for found in find_in_archive(archive.read(name))]


def repeat_secrets(asked: Asked) -> Reply:
    """Refuse a search, repeating everything that was sent, as careless servers do."""
    return Reply(403, f"{asked.path} {asked.headers} {asked.body.decode()}".encode())


def repeat_key(request: Request) -> Answer:
    return status(401, f"Incorrect API key provided: {request.headers['authorization']}")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Workbench]:
    """A workbench with all of them, whose servers refuse and repeat what they got."""
    former, level = logging.getLogger().handlers[:], logging.getLogger().level
    with Site({"/search": repeat_secrets}) as site, ModelServer(repeat_key, models=["m"]) as model:
        monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
        monkeypatch.setenv("REPLY_TOKEN", CANARIES["REPLY_TOKEN"])
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("EMBEDDING_BASE_URL", f"{model.url}/other")
        monkeypatch.setenv("EMBEDDING_MODEL", "e")
        monkeypatch.setenv("GOOGLE_CSE_ID", "cx")
        monkeypatch.setenv("GOOGLE_ENDPOINT", site.url("/search"))
        monkeypatch.setenv(
            "ENGINE_URLS", ",".join(f"{name}={site.url('/search')}" for name in ASKED_ENGINES[1:])
        )
        for name in SAVED:
            read_config().saved.save(name, bind_key(CANARIES[name], find_address(read_config(), name)))
        made = Workbench()
        yield made
        made.shutdown()
    logging.getLogger().handlers[:] = former
    logging.getLogger().setLevel(level)


def test_no_secret_is_found_in_anything_that_leaves_or_is_kept(
    bench: Workbench, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert {name: split_key(getattr(bench.config, name))[0] for name in CANARIES} == CANARIES
    logs.set_up("json", "DEBUG")
    told = [bench.check_engine(name)[1] for name in ASKED_ENGINES]
    told += [bench.check_model()[1], bench.check_embedder()[1]]
    run = bench.start(
        "How many huts are there in Älvmora?", Settings(world="demo", mode="auto", until="review")
    )
    bench.drive(run)
    try:
        raise TouchstoneError(f"with {CANARIES['OPENAI_API_KEY']} in it")
    except TouchstoneError as error:
        logging.getLogger("agent.test").exception("failed with %s", CANARIES["BRAVE_API_KEY"])
        told.append(logs.redact("".join(traceback.format_exception(error))))
    held = bench.config
    places: dict[str, bytes | str] = {
        "what a person is told": "\n".join(told),
        "the log at DEBUG": capsys.readouterr().err,
        "prompts and replies": "\n".join(call.model_dump_json() for call in bench.calls(run)),
        "the run as JSON": str(bench.as_json(run)),
        "metrics": metrics.render_metrics(metrics.list_engine_states([bench])),
        "repr": repr([bench, held, held.saved, held.saved.box, bench.worker, vars(bench.worker)]),
        "the Settings screen": repr(bench.active_configuration()),
    }
    for chosen in list_formats("research"):
        places[f"export {chosen.name}"] = export_run(bench, run, chosen.name)
    folder = bench.config.data_folder
    with closing(sqlite3.connect(folder / "touchstone.db")) as database:
        places["database"] = "\n".join(database.iterdump())
    places["settings.json"] = (folder / "settings.json").read_bytes()
    write_backup(folder, tmp_path / "b.zip")
    places["backup"] = (tmp_path / "b.zip").read_bytes()
    assert len(places) > 15 and str(places["the log at DEBUG"]).count(logs.REDACTED) == 2
    assert "did not accept the key" in "".join(told), "they were really asked"
    assert {
        place: found
        for place, content in places.items()
        if (found := find_in_archive(content if isinstance(content, bytes) else content.encode()))
    } == {}


def test_the_search_for_canaries_finds_them_in_every_spelling() -> None:
    secret = CANARIES["GOOGLE_API_KEY"]
    assert find_canaries(f"?key={quote(secret, safe='')}") == find_canaries(secret) == ["GOOGLE_API_KEY"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner", secret * 50)
    assert find_in_archive(packed.getvalue()) == ["GOOGLE_API_KEY"]
