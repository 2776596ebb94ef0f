"""The feed of a schedule: valid Atom at a secret address, nothing private in it, gone when it is renewed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from lxml import etree
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agent.accounts.people import LOCAL
from agent.batch import schedules
from agent.bot.feed import FeedHttp
from agent.errors import NotFound
from agent.types import Settings
from tests.agent.http.conftest import Server
from tests.web.site import Site, html

pytestmark = pytest.mark.slow

QUESTION = "How many cows does Lund farm keep?"
COWS = "<title>Lund & farm</title><h1>Lund farm</h1><p>Lund farm keeps {} cows on its <b>wide</b> meadows {}.</p>"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def farm() -> Iterator[Site]:
    """A site with a page that changes."""
    with Site({"/a": html(COWS.format(32, "by the sea"))}) as site:
        yield site


@pytest.fixture
def local(serve: Callable[..., Server]) -> Server:
    """A server that may read that site."""
    return serve(FETCH_ALLOW="127.0.0.1", FETCH_GAP="0")


def read(server: Server) -> Callable[..., object]:
    """Reads an address as a feed reader does, who has no cookie and no token."""
    client = TestClient(
        Starlette(routes=FeedHttp(lambda: server.benches).routes), raise_server_exceptions=False
    )
    return lambda path, **headers: client.get(f"/{path}", headers=headers)


def make_schedule(server: Server, site: Site, person=LOCAL) -> tuple[str, Callable[[], str]]:
    """A schedule and a way to have it ask now."""
    bench = server.bench(person)
    given = Settings(
        flow="site",
        world="live",
        model="keyless",
        start_urls=[site.url("/a")],
        allowed_domains=["127.0.0.1"],
    )
    given = given.replace(site=given.site.replace(fresh_days=0))
    made = schedules.create(bench, QUESTION, given, when="daily", zone="UTC", name="Cows, daily <3 \x07")

    def ask() -> str:
        schedule, _, _ = bench.store.schedules.look(made.id)
        run_id = bench.worker.scheduler.start(schedule, is_asked=True)
        bench.drive(run_id)
        return run_id

    return made.id, ask


def check_atom(body: bytes) -> list[etree._Element]:
    """The entries; RFC 4287, 4.1.1 and 4.1.2: what a feed and an entry must have, once, and its form."""
    feed = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
    assert feed.tag == f"{ATOM}feed" and feed.find(f"{ATOM}author/{ATOM}name") is not None
    entries = feed.findall(f"{ATOM}entry")
    for one in (feed, *entries):
        for name in ("id", "title", "updated"):
            (found,) = one.findall(f"{ATOM}{name}")
            assert found.text and found.text.strip()
        assert one.find(f"{ATOM}id").text.startswith("urn:uuid:")
        assert datetime.fromisoformat(one.find(f"{ATOM}updated").text).tzinfo
    for one in entries:
        (link,) = one.findall(f"{ATOM}link")
        assert link.get("rel") is None and link.get("href").startswith("http")
        (content,) = one.findall(f"{ATOM}content")
        (div,) = content
        assert content.get("type") == "xhtml" and div.tag == "{http://www.w3.org/1999/xhtml}div"
    assert len({one.find(f"{ATOM}id").text for one in entries}) == len(entries)
    return entries


def test_a_feed_has_an_entry_for_each_run_that_brought_something_new(local, farm) -> None:
    schedule_id, ask = make_schedule(local, farm)
    path, get = local.benches.renew_feed(LOCAL, schedule_id), read(local)
    ask()
    ask()
    first = get(path)
    assert (first.status_code, first.headers["content-type"]) == (200, "application/atom+xml")
    assert check_atom(first.content) == [], "nothing was new"
    same = get(path, **{"if-none-match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    farm.pages["/a"] = html(COWS.format(40, "&lt;script&gt;alert(1)&lt;/script&gt; by the sea"))
    run_id = ask()
    ask()
    told = get(path, **{"if-none-match": first.headers["etag"]})
    (entry,) = check_atom(told.content)
    assert entry.find(f"{ATOM}title").text == f"{QUESTION} (1 new, 1 gone)"
    assert entry.find(f"{ATOM}link").get("href").endswith(f"?run={run_id}")
    text = "".join(entry.find(f"{ATOM}content").itertext())
    assert "40 cows" in text and "32 cows" in text and b"<script" not in told.content
    assert farm.url("/a") in told.text and path.rpartition("/")[2] not in told.text, "not its own secret"


def test_a_renewed_address_ends_the_one_before_and_opens_nothing_else(local, farm) -> None:
    schedule_id, _ = make_schedule(local, farm)
    get, benches = read(local), local.benches
    former = benches.renew_feed(LOCAL, schedule_id)
    other = benches.renew_feed(LOCAL, make_schedule(local, farm)[0])
    path = benches.renew_feed(LOCAL, schedule_id)
    assert get(former).status_code == 404 and get(path).status_code == get(other).status_code == 200
    key = path.rpartition("/")[2]
    assert len(key) > 40 and key not in str(list(benches.token_accounts.tokens.list(LOCAL)))
    for wrong in ("feeds/fed_x", f"feeds/{local.make_token()}", f"feeds/{key[:-1]}"):
        assert get(wrong).status_code == 404
    caller = local.call(key)
    for route in ("/runs", "/webhooks", f"/runs/{local.run()}"):
        assert caller.get(route).status_code == 403
    local.bench().store.schedules.move(schedule_id, lambda *_: {"state": "deleted"})
    assert get(path).status_code == 404
    with pytest.raises(NotFound):
        benches.renew_feed(LOCAL, schedule_id)


def test_a_program_renews_the_address(local, farm) -> None:
    schedule_id, _ = make_schedule(local, farm)
    path = f"/schedules/{schedule_id}/feed"
    assert local.call(local.make_token(scopes=["read"])).post(path).status_code == 403
    caller = local.call(local.make_token(scopes=["site"]))
    former, now = (caller.post(path).json()["path"].removeprefix("/") for _ in range(2))
    assert read(local)(former).status_code == 404 and read(local)(now).status_code == 200
    assert caller.post("/schedules/nothing/feed").status_code == 404


def test_a_feed_is_of_its_person_and_ends_with_their_tokens(shared, farm) -> None:
    server, ann, bo = shared
    schedule_id, _ = make_schedule(server, farm, ann)
    with pytest.raises(NotFound):
        server.benches.renew_feed(bo, schedule_id)
    path = server.benches.renew_feed(ann, schedule_id)
    assert read(server)(path).status_code == 200
    server.benches.token_accounts.tokens.revoke_all(ann)
    assert read(server)(path).status_code == 404


def test_nothing_of_a_private_note_is_in_a_feed(local, farm) -> None:
    schedule_id, ask = make_schedule(local, farm)
    ask()
    farm.pages["/a"] = html(COWS.format(40, "by the sea"))
    run_id, bench = ask(), local.bench()
    bench.act(run_id, "send_back", note="Ask what Quibbleworth did with the zinc.", private=True)
    bench.drive(run_id)
    told = read(local)(local.benches.renew_feed(LOCAL, schedule_id))
    assert len(check_atom(told.content)) == 1
    assert "Quibbleworth" not in told.text and "zinc" not in told.text
