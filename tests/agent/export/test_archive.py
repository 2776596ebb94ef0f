"""The deterministic zip: the same files the same bytes, every byte guarded, nothing hostile opened."""

from __future__ import annotations

import io
import json
import random
import struct
import tracemalloc
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import BundleError
from agent.export.archive import MANIFEST, load_json, pack, unpack
from tests.tables import by_table

pytestmark = pytest.mark.slow

FILES = {
    "run.json": b'{"a": 1}\n',
    "pages/0a.txt": "Größe 東京".encode() * 50,
    "steps.jsonl": b"",
    "pages/0b.txt": bytes(range(256)),
}
ABOUT = {"format": "x", "version": 1, "question": "Wie groß?"}


def zipped(*entries: tuple[zipfile.ZipInfo | str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for entry, body in entries:
            archive.writestr(entry, body)
    return out.getvalue()


def test_it_gives_back_what_was_put_in_whatever_the_order():
    data = pack(FILES, ABOUT)
    assert unpack(data) == (ABOUT, FILES)
    assert data == pack(dict(reversed(FILES.items())), ABOUT)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None and archive.namelist()[0] == MANIFEST
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_every_single_byte_counts():
    data, dice = pack(FILES, ABOUT), random.Random(7)
    for at in range(len(data)):
        with pytest.raises(BundleError):
            unpack(data[:at] + bytes([data[at] ^ dice.randrange(1, 256)]) + data[at + 1 :])


def test_what_is_cut_off_or_lengthened_is_told():
    data = pack(FILES, ABOUT)
    for cut in range(0, len(data), 7):
        with pytest.raises(BundleError):
            unpack(data[:cut])
    for more in (data + b"\0", b"\0" + data, data + data):
        with pytest.raises(BundleError):
            unpack(more)


def test_a_bomb_is_not_lit():
    bomb = zipped((MANIFEST, b"0" * 50_000_000), compression=zipfile.ZIP_DEFLATED)
    tracemalloc.start()
    with pytest.raises(BundleError, match="compressed"):
        unpack(bomb)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_a_crowd_of_entries_is_counted_before_it_is_read():
    entry = zipped((MANIFEST, b"{}"))
    record = entry[entry.index(b"PK\x01\x02") : -22]
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 65535, 65535, len(record) * 200_000, 45, 0)
    crowd = entry[: entry.index(b"PK\x01\x02")] + record * 200_000 + end
    tracemalloc.start()
    with pytest.raises(BundleError, match="more than"):
        unpack(crowd)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_files_that_overlap_or_lie_about_their_size_are_refused():
    data = bytearray(pack({"run.json": b"x" * 100}, ABOUT))
    at = data.index(b"PK\x01\x02")
    data[at + 20 : at + 28] = struct.pack("<II", 2**31, 2**31)
    with pytest.raises(BundleError, match="larger than the whole"):
        unpack(bytes(data))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_link_two_of_a_name_a_stranger_and_a_missing_file_are_refused():
    name, body = "pages/0a.txt", FILES["pages/0a.txt"]
    manifest = zipfile.ZipFile(io.BytesIO(pack({name: body}, ABOUT))).read(MANIFEST)
    link = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    link.create_system, link.external_attr = 3, 0o120777 << 16
    for entries, told in (
        ([(link, body)], "around its files"),
        ([(name, body), (name, body)], "around its files"),
        ([(name, body), ("../../etc/passwd", b"x")], "not in its manifest"),
        ([], "is missing"),
        ([(name, body + b".")], "was changed"),
    ):
        with pytest.raises(BundleError, match=told):
            unpack(zipped((MANIFEST, manifest), *entries))


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"[]",
        b"{}",
        b'{"files": 3}',
        b'{"files": [3]}',
        b'{"files": [{"name": 3, "sha256": "x"}]}',
        b'{"files": [], "x": {}}',
        b"\xff",
        b"[" * 100_000,
        b'{"files": [], "q": "\\ud800"}',
        b'{"files": [], "q": NaN}',
        b'{"files": [], "q": 1' + b"0" * 5000 + b"}",
    ],
)
def test_a_manifest_of_wrong_kinds_is_refused(manifest):
    with pytest.raises(BundleError):
        unpack(zipped((MANIFEST, manifest)))


@by_table
def test_json_with_pitfalls_is_refused(text):
    with pytest.raises(BundleError, match=r"x\.json"):
        load_json(text, "x.json")
    assert load_json(json.dumps({"a": ["\\ud800", 1.5, None]}), "x.json")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.integers(0, 10_000), st.integers(1, 400))
def test_no_rubbish_makes_it_fall(rubbish, at, length):
    data = pack(FILES, ABOUT)
    at %= len(data)
    for hostile in (rubbish, b"PK\x03\x04" + rubbish, data[:at] + rubbish + data[at + length :]):
        if hostile != data:
            with pytest.raises(BundleError):
                unpack(hostile)


def test_a_list_longer_than_any_of_a_run_is_refused():
    """A bundle with 300,000 notes took 13 s; what is left is linear."""
    with pytest.raises(BundleError, match="cannot be read"):
        load_json(json.dumps({"notes": [0] * 300_000}), "steps.jsonl")
    assert len(load_json(json.dumps([0] * 100_000), "steps.jsonl")) == 100_000
