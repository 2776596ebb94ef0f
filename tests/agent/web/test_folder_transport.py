"""A folder of documents answers like a small web, and never touches the network."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import NotFound, UsageError
from agent.settings import config
from agent.types import Outcome, SourceFilter
from agent.web.world import World, open_world
from tests.tables import by_table

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
    assert folder_world(DAIRY).fetch(url).outcome is Outcome.REFUSED
    assert (
        folder_world(DAIRY)
        .fetch("https://dairy.test/about", reach=SourceFilter(allowed=["other.test"]))
        .outcome
        is Outcome.REFUSED
    )


def test_documents_can_be_more_than_text(folder_world: Make, tmp_path: Path) -> None:
    from tests.agent.web.extract.sample_documents import make_pdf

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
