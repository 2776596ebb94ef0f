"""Stored pages: each text once, never changed, the body as it came."""

from __future__ import annotations

import hashlib
import threading

from sqlalchemy import func, select

from agent.store import tables
from agent.store.database import Store
from agent.store.pages import make_page_id
from agent.types import Heading, Link, Outcome, Page, Table


def seen(text: str = "A heron.", url: str = "https://a.example/x", **more) -> Page:
    hashed = hashlib.sha256(text.encode()).hexdigest()
    return Page(
        **{
            "url": url,
            "final_url": url,
            "outcome": Outcome.OK,
            "text": text,
            "sha256": hashed,
            "fetched_at": "2026-11-21T09:00:00Z",
            **more,
        }
    )


def count(store: Store) -> int:
    with store.engine.connect() as connection:
        return connection.scalar(select(func.count()).select_from(tables.pages)) or 0


def test_a_page_comes_back_as_it_was(store):
    page = seen(
        "Åå 🧀 |\u00a0x",
        raw=bytes(range(256)),
        title="T",
        author="A",
        published_at="2026-01-01",
        language="sv",
        status=200,
        redirects=["https://r.example/"],
        links=[Link(url="https://l.example/", text="l")],
        headings=[Heading(start=0, level=1, text="T")],
        tables=[Table(start=0, end=2, rows=[["a", "b"]])],
    )
    page_id = store.pages.put(page)
    assert store.pages.get(page_id) == page.model_copy(update={"raw": b""})
    assert store.pages.get(page_id, raw=True) == page


def test_the_same_text_at_the_same_address_is_stored_once(store):
    first = store.pages.put(seen(fetched_at="then"))
    assert store.pages.put(seen(url="https://A.example/x/#top", fetched_at="later")) == first
    assert count(store) == 1 and store.pages.get(first).fetched_at == "then", "a stored page is never changed"


def test_rivals_store_it_once(store):
    ids: list[str] = []
    threads = [threading.Thread(target=lambda: ids.append(store.pages.put(seen()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 8 and len(set(ids)) == 1 and count(store) == 1


def test_what_came_in_a_bundle_gives_way_to_the_page_as_it_is_read_here(store):
    """The text is the same (it makes the id); links, title and body are somebody's word, and must not be what
    is used or shelved."""
    told = seen(
        title="Told", links=[Link(url="https://evil.example/", text="here")], raw=b"told", fetched_at="then"
    )
    store.pages.add_if_absent(told)
    page_id = store.pages.put(
        read := seen(title="Read", links=[Link(url="https://a.example/y", text="y")], raw=b"read")
    )
    assert store.pages.get(page_id, raw=True) == read and count(store) == 1
    assert store.library_index.list_unindexed(10) == [page_id]
    assert store.pages.put(told) == page_id and store.pages.get(page_id, raw=True) == read, (
        "it is ours now, and never changed"
    )


def test_what_comes_in_a_bundle_replaces_nothing_and_waits_for_no_shelf(store):
    page_id = store.pages.put(seen(title="Read"))
    store.library_index.mark_indexed([page_id])
    store.pages.add_if_absent(seen(title="Told"))
    store.pages.add_if_absent(seen("Two herons.", title="First"))
    store.pages.add_if_absent(other := seen("Two herons.", title="Second"))
    assert store.pages.get(page_id).title == "Read" and count(store) == 2
    assert store.library_index.list_unindexed(10) == []
    assert store.pages.get(make_page_id(other)).title == "First"


def test_versions_of_an_address_stand_newest_first(store):
    old, new = seen("A heron."), seen("Two herons.", fetched_at="2026-11-22T09:00:00Z")
    store.pages.put(old)
    store.pages.put(new)
    store.pages.put(seen("Elsewhere.", "https://b.example/"))
    found = store.pages.versions("https://a.example/x")
    assert [(version.fetched_at, version.characters, version.origin) for version in found] == [
        ("2026-11-22T09:00:00Z", 11, "fetched"),
        ("2026-11-21T09:00:00Z", 8, "fetched"),
    ]
    assert store.pages.versions("https://nowhere.example/") == []


def test_an_address_is_known_by_the_page_it_gave_last(store):
    first, second = seen(), seen("Two herons.", fetched_at="2026-11-22T09:00:00Z")
    store.pages.put_fetched([("https://a.example/x#top", first), ("https://b.example/", seen())])
    [page_id] = store.pages.put_fetched([("https://A.example/x", second)])
    found = store.pages.find_fetched(["https://a.example/x#end", "https://a.example/unknown"])
    assert {url: (address.page_id, address.fetched_at) for url, address in found.items()} == {
        "https://a.example/x": (page_id, "2026-11-22T09:00:00Z")
    }
    assert count(store) == 2, "what was given before stays, for the runs that read it"


def test_an_address_has_the_validators_of_its_last_answer(store):
    for tag in ('"one"', '"two"'):
        store.pages.put_fetched([("https://a.example/x", seen(etag=tag))])
    [address] = store.pages.find_fetched(["https://a.example/x"]).values()
    assert address.etag == '"two"' and count(store) == 1


def test_what_an_older_version_read_gives_way_to_the_same_text_read_today(store):
    page_id = store.pages.put(seen(title="Old", extraction=0))
    store.pages.put(seen(title="New", extraction=1))
    store.pages.put(seen(title="Older again", extraction=0))
    assert store.pages.get(page_id).title == "New"
