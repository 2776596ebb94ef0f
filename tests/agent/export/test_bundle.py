"""What is in a bundle and how it is read: every part comes back, secrets never leave, wrong kinds are told
and nothing swells."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from dataclasses import replace

import pytest

from agent.errors import BundleError
from agent.export.archive import MANIFEST, pack
from agent.export.bundle import BundleContents, read_bundle, write_bundle
from agent.types import ModelCall, Run, Status, Step, Usage
from tests.records import fill
from tests.web.reports import report

KEY = "sk-live-1234567890"


def contents() -> BundleContents:
    given = report()
    page = given.stored_pages["p1"].model_copy(update={"raw": b"<p>The body</p>" * 9})
    run = fill(Run, id="0123456789ab", question="Größe? 東京", status=Status.REVIEW, steps=1)
    prompt = [{"role": "user", "content": f"key {KEY}"}]
    call = fill(ModelCall, key="k", run_id=run.id, step=1, role="decision", prompt=prompt, reply=KEY)
    asked = fill(Step, name="ask", change={"question": run.question}, next="decide")
    steps = [asked, fill(Step, n=1, name="pause", change={"control": "paused"}, next="decide")]
    pages = {"p1": page, "p2": given.stored_pages["p2"]}
    return BundleContents(run, Usage(llm_calls=1), steps, given.facts, pages, [call], ["gone"])


def repacked(**files: bytes | None) -> bytes:
    """A bundle that is whole, with other files in it: what a hand can make."""
    with zipfile.ZipFile(io.BytesIO(write_bundle(contents()))) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    about = {key: value for key, value in json.loads(held.pop(MANIFEST)).items() if key != "files"}
    for name, body in files.items():
        name = name.replace("__", "/").replace("_dot_", ".")
        if body is None:
            held.pop(name)
        else:
            held[name] = body
    return pack(held, about)


def test_all_comes_back():
    given = contents()
    found = read_bundle(write_bundle(given))
    assert found == given
    assert write_bundle(given) == write_bundle(contents())


def test_it_is_readable_without_us():
    with zipfile.ZipFile(io.BytesIO(write_bundle(contents()))) as archive:
        assert archive.read("pages/p1.txt").decode().startswith("Before it.")
        assert gzip.decompress(archive.read("pages/p1.body.gz")) == b"<p>The body</p>" * 9
        assert "verify" in archive.read("readme.txt").decode()
        assert json.loads(archive.read("run.json"))["run"]["question"] == "Größe? 東京"
        assert len(archive.read("steps.jsonl").splitlines()) == 2


def test_no_secret_leaves():
    assert KEY.encode() not in write_bundle(contents(), [KEY]) and b"[hidden]" in write_bundle(
        contents(), [KEY]
    )
    given = contents()
    body = {"p1": given.pages["p1"].model_copy(update={"raw": f"<p>{KEY}</p>".encode()})}
    with zipfile.ZipFile(io.BytesIO(write_bundle(replace(given, pages=body), [KEY]))) as archive:
        assert "pages/p1.body.gz" not in archive.namelist()
    text = {"p1": given.pages["p1"].model_copy(update={"text": f"The key is {KEY}."})}
    with pytest.raises(BundleError, match="holds one of your keys"):
        write_bundle(replace(given, pages=text), [KEY])


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        ({"run_dot_json": b"{}"}, "run.json"),
        ({"run_dot_json": b'{"run": 3, "usage": {}, "missing_pages": []}'}, "run.json"),
        ({"run_dot_json": b"\xff"}, "run.json"),
        ({"run_dot_json": None}, "missing"),
        ({"steps_dot_jsonl": b"3\n"}, "steps.jsonl"),
        ({"steps_dot_jsonl": b'{"n": "x"}\n'}, "steps.jsonl"),
        ({"steps_dot_jsonl": b"no line end"}, "steps.jsonl"),
        ({"steps_dot_jsonl": b"[" * 5000 + b"\n"}, "steps.jsonl"),
        ({"facts_dot_json": b'[{"id": 1}]'}, "facts.json"),
        ({"facts_dot_json": b"{}"}, "facts.json"),
        ({"calls_dot_jsonl": b"{}\n"}, "calls.jsonl"),
        ({"pages_dot_jsonl": b"{}\n"}, "pages.jsonl"),
        ({"pages_dot_jsonl": b'{"id": "p9"}\n'}, "p9.txt"),
        ({"pages__p1_dot_txt": b"\xff\xfe"}, "UTF-8"),
        ({"pages__p1_dot_body_dot_gz": b"no gzip"}, "cannot be read"),
        ({"pages__p1_dot_body_dot_gz": gzip.compress(b"x" * 1000)[:-9]}, "cannot be read"),
        ({"more_dot_txt": b"x"}, "no bundle has"),
    ],
)
def test_what_a_hand_made_is_told(files, hint):
    with pytest.raises(BundleError, match=hint):
        read_bundle(repacked(**files))


def test_a_body_does_not_swell_without_end(monkeypatch):
    monkeypatch.setattr("agent.export.bundle.MAX_BODY", 1_000_000)
    with pytest.raises(BundleError, match="larger"):
        read_bundle(repacked(pages__p1_dot_body_dot_gz=gzip.compress(b"0" * 30_000_000)))


def test_other_formats_and_versions_are_told():
    with pytest.raises(BundleError, match="no evidence bundle"):
        read_bundle(pack({}, {"format": "other"}))
    with pytest.raises(BundleError, match="update"):
        read_bundle(pack({}, {"format": "touchstone-evidence-bundle", "version": 3}))
