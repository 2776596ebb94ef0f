"""A folder world: its index is built once, found again, never half built; the best page comes first; its
documents answer like a small web that touches no network."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import NotFound, UsageError
from agent.settings import config
from agent.types import Outcome, SourceFilter
from agent.web import folder_world
from agent.web.folder_world import FolderWorld, open_folder, split_windows
from agent.web.world import World, open_world
from tests.agent.web.extract.sample_documents import make_pdf
from tests.tables import by_table

RIVER = {"id": "t", "url": "https://dairy.test/town", "title": "Town", "text": "A town by the river."}
MILL = {"id": "m", "url": "https://dairy.test/mill", "title": "Mill", "html": "<p>A mill grinds rye.</p>"}
ANY = SourceFilter()


def write(folder: Path, *docs: dict[str, object]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    return folder


def start(folder: Path, data: Path) -> FolderWorld:
    """The world as a new process opens it."""
    return FolderWorld(folder / "docs.jsonl", data)


def found(world: FolderWorld, words: str) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in world.search(words, 10, ANY).hits]


def kept(folder: Path) -> list[str]:
    return sorted(file.suffix for file in folder.iterdir())


def test_the_second_start_builds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, data = write(tmp_path / "w", RIVER, MILL), tmp_path / "kept"
    first = start(world, data)
    monkeypatch.setattr(folder_world.dispatch, "extract_content", None)
    second = start(world, data)
    assert kept(data) == [".db"] and "memory" not in second.label
    for each in (first, second):
        assert found(each, "rye") == ["mill"] and found(each, "river mill") == ["mill", "town"]
        assert b"A town by the river." in each.serve("https://dairy.test/town?utm_source=x")[2]
        assert each.serve("https://x.test/")[0] == 404


def test_a_changed_attached_file_is_read_again(tmp_path: Path) -> None:
    world, data = write(tmp_path / "w", {"url": "https://dairy.test/f", "file": "f.html"}), tmp_path / "kept"
    (world / "f.html").write_text("<p>heron</p>")
    start(world, data)
    (world / "f.html").write_text("<p>a stork instead</p>")
    again = start(world, data)
    assert found(again, "stork") == ["f"] and found(again, "heron") == [] and kept(data) == [".db"]


def test_a_damaged_file_is_built_anew(tmp_path: Path) -> None:
    world, data = write(tmp_path / "w", RIVER), tmp_path / "kept"
    start(world, data)
    for damage in (b"", b"no database", b"\0" * 5000):
        next(data.iterdir()).write_bytes(damage)
        assert found(start(world, data), "river") == ["town"]
    assert kept(data) == [".db"]


def test_without_a_place_it_is_kept_in_memory_with_a_note(tmp_path: Path) -> None:
    world, data = write(tmp_path / "w", RIVER), tmp_path / "kept"
    data.write_text("a file is in its way")
    opened = start(world, data / "worlds")
    assert found(opened, "river") == ["town"] and "memory only" in opened.label and str(data) in opened.label


def test_a_build_that_breaks_off_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, data = write(tmp_path / "w", RIVER, MILL), tmp_path / "kept"

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(folder_world.dispatch, "extract_content", broken)
        start(world, data)
    assert list(data.iterdir()) == [] and found(start(world, data), "rye") == ["mill"]


def _open_many(world: Path, data: Path) -> None:
    for _ in range(5):
        assert found(start(world, data), "rye") == ["mill"]


@pytest.mark.slow
def test_processes_may_build_it_at_once(tmp_path: Path) -> None:
    world, data = write(tmp_path / "w", RIVER, MILL), tmp_path / "kept"
    at_once = multiprocessing.get_context("spawn")
    processes = [at_once.Process(target=_open_many, args=(world, data)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0] and kept(data) == [".db"]


def test_files_that_nobody_uses_are_removed(tmp_path: Path) -> None:
    data = tmp_path / "kept"
    data.mkdir()
    long_ago = time.time() - 86_400 * (folder_world.MAX_UNUSED_DAYS + 1)
    for name in ("old.db", "killed.tmp"):
        (data / name).write_text("")
        os.utime(data / name, (long_ago, long_ago))
    (data / "at_work.tmp").write_text("")
    start(write(tmp_path / "w", RIVER), data)
    assert kept(data) == [".db", ".tmp"] and (data / "at_work.tmp").exists()


def test_a_folder_is_opened_once_for_each_state_of_its_documents(tmp_path: Path) -> None:
    first = open_folder(write(tmp_path / "w", RIVER), tmp_path / "kept")
    assert open_folder(tmp_path / "w", tmp_path / "kept") is first
    assert open_folder(write(tmp_path / "w", MILL), tmp_path / "kept") is not first


def test_a_text_is_cut_at_lines_and_words_without_loss() -> None:
    assert list(split_windows("")) == [""]
    text = "\n".join([*(f"Line {n} of the text." for n in range(300)), "word " * 2000, "x" * 9000])
    pieces = list(split_windows(text))
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert max(map(len, pieces)) <= 2 * folder_world.WINDOW_CHARS + 1 and "Line 0 of the text." in pieces[0]


LONG = (
    f"The dairy was founded in 1921 by two sisters. {'Filler words stand here. ' * 40}Its butter won prizes."
)
DOCS = [
    {"url": "https://a.test/1", "title": "Ostrava dairy", "text": LONG},
    {"url": "https://a.test/2", "title": "Butter", "text": "Butter is made from cream."},
    {"url": "https://a.test/3", "title": "Cafe Müller", "text": "The café in Bjørn street sells cheeses."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> FolderWorld:
    folder = tmp_path_factory.mktemp("world")
    return open_folder(write(folder, *DOCS), folder / "kept")


@by_table
def test_the_best_page_comes_first(index: FolderWorld, query: str, first: int) -> None:
    result = index.search(query, 10, ANY)
    assert result.outcome is Outcome.OK
    assert result.hits[0].url == f"https://a.test/{first}"


def test_the_snippet_is_the_window_that_answers(index: FolderWorld) -> None:
    snippet = index.search("prizes won", 10, ANY).hits[0].snippet
    assert "won prizes" in snippet
    assert len(snippet.split()) <= 32


@by_table
def test_no_query_breaks_it(index: FolderWorld, query: str) -> None:
    assert index.search(query, 10, ANY).outcome in (Outcome.OK, Outcome.EMPTY)
    assert index.search("butter", 10, ANY).outcome is Outcome.OK


def test_nothing_found_says_so(index: FolderWorld) -> None:
    result = index.search("zeppelin", 10, ANY)
    assert (result.outcome, result.hits) == (Outcome.EMPTY, [])
    assert "other words" in result.detail


DAIRY = {
    "id": "a",
    "title": "Ostrava <dairy>",
    "url": "https://dairy.test/about",
    "text": "Founded in 1921 & loved.\n\nBy two sisters.",
    "links": ["b", "https://other.test/x", "no such id"],
}
TOWN = {"id": "b", "title": "Town", "url": "https://dairy.test/town", "text": "A town."}
Make = Callable[..., World]


@pytest.mark.parametrize("packed", [False, True])
def test_a_document_is_a_page(folder_world: Make, packed: bool) -> None:
    page = folder_world(DAIRY, TOWN, packed=packed).fetch("https://dairy.test/about")
    assert (page.outcome, page.status, page.title) == (Outcome.OK, 200, "Ostrava <dairy>")
    assert page.text == "Ostrava <dairy>\n\nFounded in 1921 & loved.\n\nBy two sisters."
    assert [(link.url, link.text) for link in page.links] == [
        ("https://dairy.test/town", "Town"),
        ("https://other.test/x", ""),
    ]


@by_table
def test_an_unknown_address_is_not_found(folder_world: Make, url: str) -> None:
    assert folder_world(DAIRY).fetch(url).outcome is Outcome.NOT_FOUND


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://localhost/", "file:///etc/passwd", "http://u:p@dairy.test/about"]
)
def test_the_rules_hold_here_too(folder_world: Make, url: str) -> None:
    world, elsewhere = folder_world(DAIRY), SourceFilter(allowed_domains=["other.test"])
    assert world.fetch(url).outcome is Outcome.REFUSED
    assert world.fetch("https://dairy.test/about", reach=elsewhere).outcome is Outcome.REFUSED


def test_documents_can_be_more_than_text(folder_world: Make, tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(make_pdf("The dairy sold 1,200 litres."))
    world = folder_world(
        {"url": "https://d.test/html", "html": "<title>T</title><table><tr><td>a<td>b</table>"},
        {"url": "https://d.test/gone", "status": 404},
        {"url": "https://d.test/wall", "status": 403},
        {"url": "https://d.test/moved", "location": "/html"},
        {"url": "https://d.test/trap", "location": "http://169.254.169.254/"},
        {"url": "https://d.test/loop", "location": "/loop"},
        {"url": "https://d.test/plain", "text": "a,b\n1,2", "content_type": "text/csv"},
        {"url": "https://d.test/pdf", "file": "report.pdf"},
        {"url": "https://d.test/picture", "content_type": "image/png", "text": "x"},
    )
    assert world.fetch("https://d.test/html").tables[0].rows == [["a", "b"]]
    assert world.fetch("https://d.test/moved").final_url == "https://d.test/html"
    assert world.fetch("https://d.test/plain").text == "a | b\n1 | 2"
    assert "1,200 litres" in world.fetch("https://d.test/pdf").text
    outcomes = {
        path: world.fetch(f"https://d.test/{path}").outcome
        for path in ("gone", "wall", "trap", "loop", "picture")
    }
    assert outcomes == {
        "gone": Outcome.NOT_FOUND,
        "wall": Outcome.BLOCKED,
        "trap": Outcome.REFUSED,
        "loop": Outcome.REFUSED,
        "picture": Outcome.UNSUPPORTED,
    }


def test_a_file_outside_the_folder_is_not_served(folder_world: Make) -> None:
    with pytest.raises(UsageError):
        folder_world({"url": "https://d.test/x", "file": "../../etc/passwd"}).fetch("https://d.test/x")


def test_every_host_has_a_sitemap_a_front_page_and_robots(folder_world: Make) -> None:
    world = folder_world(
        DAIRY,
        TOWN,
        {"url": "https://other.test/", "title": "Front", "text": "Own front page."},
        {"url": "https://dairy.test/404", "status": 404},
    )
    for place in ("https://dairy.test/", "https://dairy.test/sitemap.xml"):
        assert [link.url for link in world.fetch(place).links] == [
            "https://dairy.test/about",
            "https://dairy.test/town",
        ]
    assert "Sitemap: https://dairy.test/sitemap.xml" in world.fetch("https://dairy.test/robots.txt").text
    assert world.fetch("https://other.test/").title == "Front"


@pytest.mark.parametrize(
    "line",
    [
        b"{broken",
        b"[]",
        b'{"title": "no url"}',
        b'{"url": "ftp://x.test/"}',
        b'{"url": "https://x.test/", "text": "caf\xe9"}',
        b'{"url": "https://x.test/", "status": "gone"}',
        b'{"url": "https://x.test/", "file": "../outside.pdf"}',
        b'{"url": "https://x.test/", "file": "missing.pdf"}',
        b'{"url": "https://x.test/", "file": "\\u0000"}',
    ],
)
def test_a_line_that_can_not_be_read_is_named(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "outside.pdf").write_bytes(b"%PDF")
    folder = tmp_path / "world"
    folder.mkdir()
    (folder / "docs.jsonl").write_bytes(json.dumps(TOWN).encode() + b"\n" + line + b"\n")
    with pytest.raises(UsageError, match="line 2"):
        open_world(str(folder), config.read_config({"TOUCHSTONE_DATA": str(tmp_path / "data")}))
    assert not list((tmp_path / "data").rglob("*.*")), "nothing half built is left"


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[:-20],
        lambda packed: b"no gzip at all",
        lambda packed: packed[:60] + b"\0" * 9 + packed[69:],
    ],
)
def test_a_damaged_archive_is_a_sentence(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    lines = "".join(json.dumps({**TOWN, "text": f"A town {n}."}) + "\n" for n in range(50))
    (tmp_path / "docs.jsonl.gz").write_bytes(damage(gzip.compress(lines.encode())))
    with pytest.raises(UsageError, match=r"docs\.jsonl\.gz is damaged after line \d+ .*Pack it again"):
        open_world(str(tmp_path), config.read_config({"TOUCHSTONE_DATA": str(tmp_path / "data")}))


def test_half_characters_are_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text('\ufeff{"url": "https://x.test/", "text": "heron \\ud83d nest"}')
    world = open_world(str(tmp_path), config.read_config({"TOUCHSTONE_DATA": str(tmp_path / "data")}))
    assert "heron ? nest" in world.fetch("https://x.test/").text and world.search("duckduckgo", "heron").hits


@pytest.mark.parametrize("name", ["nowhere", "", "/no/such/folder"])
def test_a_world_that_is_not_there_is_named_with_a_hint(name: str) -> None:
    with pytest.raises(NotFound, match=r"docs\.jsonl"):
        open_world(name, config.read_config({}))
