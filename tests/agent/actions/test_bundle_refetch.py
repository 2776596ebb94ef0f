"""The sources of a bundle are asked again: do its quotes stand there today?"""

from __future__ import annotations

import pytest

from agent.actions.bundles import refetch_sources, verify_bundle
from agent.actions.export import export_run
from agent.types import Settings
from agent.web.world import open_world
from agent.workbench import Workbench
from tests.web.site import Reply, Site, html

pytestmark = pytest.mark.slow
QUESTION = "How many cows does Lund farm keep?"
FARM = "Lund farm keeps {} cows on its {} hectares. It was bought by the family in 1921."
PAGE = f"<title>Lund farm</title><h1>Lund farm</h1><p>{FARM}</p>"


def live(pages: dict[str, Reply | str], site: Site) -> None:
    site.pages = {path: html(body) if isinstance(body, str) else body for path, body in pages.items()}


def asked(site: Site, tmp_path) -> tuple[bytes, Workbench]:
    """A bundle of a run that read the pages of a real server on this machine."""
    bench = Workbench()
    urls = [site.url(path) for path in ("/a", "/b", "/c", "/d")]
    run_id = bench.start(
        QUESTION,
        Settings(world="live", model="keyless", flow="site", start_urls=urls, allowed_domains=["127.0.0.1"]),
    )
    bench.drive(run_id)
    return export_run(bench, run_id, "bundle"), bench


def test_refetch_tells_what_stands_changed_is_gone_or_not_readable(monkeypatch, tmp_path):
    monkeypatch.setenv("FETCH_ALLOW", "127.0.0.1")
    monkeypatch.setenv("FETCH_GAP", "0")
    places = {
        "/a": (31, "by the northern shore, next to an old mill"),
        "/b": (32, "behind that railway station since last spring"),
        "/c": (33, "under tall birches where nobody else may graze"),
        "/d": (34, "across three islands reached over wooden bridges"),
    }
    first = {
        path: PAGE.format(n, n * 2).replace("hectares", f"hectares {where}")
        for path, (n, where) in places.items()
    }
    with Site({}) as site:
        live(first, site)
        made, bench = asked(site, tmp_path)
        found = verify_bundle(made)
        assert found.is_valid, found.problems
        world, heard = bench.worker.world("live"), []
        told = refetch_sources(found, world, lambda *one: heard.append(one))
        assert {fact.url for fact, _ in told} == {site.url(path) for path in first}
        assert {one.standing for _, one in told} == {"stands"}
        assert heard == told
        changed = {
            "/a": first["/a"],
            "/b": first["/b"] + "<p>More was added since.</p>",
            "/c": PAGE.format(50, 66),
            "/d": Reply(404, b"gone"),
        }
        live(changed, site)
        how = {fact.url[-2:]: one for fact, one in refetch_sources(found, world) if "cows" in fact.quote}
        standings = {path: one.standing for path, one in how.items()}
        assert standings == {"/a": "stands", "/b": "stands", "/c": "changed", "/d": "gone"}
        assert "50 cows" in how["/c"].nearest
        live({"/a": Reply(503, b"later"), "/b": Reply(410, b"")}, site)
        how = {fact.url[-2:]: one for fact, one in refetch_sources(found, world)}
        assert (how["/a"].standing, how["/b"].standing) == ("not_read", "gone") and how["/a"].now
        bench.shutdown()


def test_refetch_goes_through_the_guard(monkeypatch, tmp_path, bench):
    """A bundle cannot make this workbench ask an address of its own network."""
    monkeypatch.setenv("FETCH_ALLOW", "127.0.0.1")
    monkeypatch.setenv("FETCH_GAP", "0")
    with Site({"/a": html(PAGE.format(31, 62))}) as site:
        live({path: PAGE.format(31, 62) for path in ("/a", "/b", "/c", "/d")}, site)
        made, own = asked(site, tmp_path)
        own.shutdown()
        before = len(site.asked)
        monkeypatch.setenv("FETCH_ALLOW", "")
        world = open_world("live", Workbench().config)
        assert {one.standing for _, one in refetch_sources(verify_bundle(made), world)} == {"not_read"}
        assert len(site.asked) == before
        world.close()
