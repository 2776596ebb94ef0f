"""The Collect screen as Streamlit's own tester sees it: start, preview, tree, items, digest, exports."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from agent import api
from agent.types import CollectLimits, Settings
from agent.workbench import Workbench
from pages.widgets.collect import crawl_tree, results, run
from tests.pages.conftest import shown
from tests.web.collecting_model import install_walker
from tests.web.folders import page, write_world

pytestmark = pytest.mark.slow

PROMPT, QUOTE = (
    "Go to the forum section and find out what people are saying about Kallsteg in the last month",
    "https://borskvart.example/stock/KALL",
)
Collected = Callable[..., str]


@pytest.fixture
def collected(bench: Workbench) -> Collected:
    def ran(
        prompt: str = PROMPT, start: str = QUOTE, *, world: str = "demo", mode: str = "auto", **limits: object
    ) -> str:
        install_walker(bench, topic="Kallsteg", section="forum", days=30)
        settings = Settings(world=world, model="auto", mode=mode, collect=CollectLimits(**limits))
        run_id = api.start_collect_run(bench, prompt, [start], settings)
        bench.drive(run_id)
        return run_id

    return ran


def test_without_a_start_page_it_says_what_is_missing(app: Callable[..., AppTest]) -> None:
    tester = app("collect")
    assert not tester.exception and "Nothing yet" in shown(tester)
    tester.text_area(key="collect:prompt").set_value("Summarize the news").run()
    tester.button(key="collect-start").click().run()
    assert "start" in tester.warning[0].value
    assert tester.text_area(key="collect:prompt").value == "Summarize the news", "what was typed is kept"


def test_an_example_starts_in_the_demo_world(app: Callable[..., AppTest], bench: Workbench) -> None:
    tester = app("collect")
    tester.button(key="collect-example-1").click().run()
    (run,) = bench.runs()
    assert (run.settings.world, run.settings.start_urls) == (
        "demo",
        ["https://granvattnet-courier.example/news/"],
    )


def test_entries_outside_the_time_asked_for_count_as_left_out(bench: Workbench, collected: Collected) -> None:
    view = bench.snapshot(collected())
    late = [node for node in view.state.own.tree.values() if node.status == "dropped"]
    listed = results.list_left_out(view.state)
    assert late and {node.url for node in late} <= {url for url, *_ in listed}
    assert late[0].ended.partition(":")[0] in results.render_left_out(listed)


def test_a_download_needs_no_session_at_the_click(
    bench: Workbench, collected: Collected, monkeypatch
) -> None:
    made: list[Callable[[], str | bytes]] = []
    monkeypatch.setattr(run.ui, "download", lambda label, key, make, *more, **named: made.append(make))
    monkeypatch.setattr(run.client, "workbench", lambda: bench)
    run._draw_result(bench.snapshot(collected(max_articles=1)))
    monkeypatch.setattr(run.client, "workbench", None)
    assert len(made) == 3 and all(make() for make in made)


def test_what_pages_write_stays_text(bench: Workbench, collected: Collected, tmp_path) -> None:
    evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
    rows = "".join(
        f'<div class="post"><b class="username">u{n}&lt;b&gt;</b> <time datetime="2026-11-0{n}">d</time>'
        f'<div class="content">{page_text(n)}&lt;img src=x onerror=alert(1)&gt;</div></div>'
        for n in (1, 2)
    )
    html = (
        f"<html><head><title>{evil.replace('<', '&lt;')}</title></head><body><h1>"
        f"{evil.replace('<', '&lt;')}</h1>{rows}</body></html>"
    )
    world = write_world(tmp_path / "w", [page("https://evil.example/t/1", "evil", "x", html=html)])
    run_id = collected("Collect this thread", "https://evil.example/t/1", world=world)
    found = api.build_collection(bench, run_id)
    drawn = results.render_items(found.items, run_id) + crawl_tree.render(bench.snapshot(run_id).state)
    assert len(found.items[0].posts) == 2
    assert "<img" not in drawn and "<script" not in drawn and "&lt;img" in drawn


def page_text(n: int) -> str:
    return f"This is what member number {n} wrote about the matter. "
