"""The Collect screen as Streamlit's own tester sees it: start, preview, tree, items, digest, exports."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from agent import api
from agent.types import CollectLimits, Settings, Status
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


def test_starting_from_what_was_typed(app: Callable[..., AppTest], bench: Workbench) -> None:
    tester = app("collect")
    tester.text_area(key="collect:prompt").set_value(PROMPT).run()
    tester.text_area(key="collect:starts").set_value(f"{QUOTE}\n https://curdtalk.example/").run()
    tester.number_input(key="collect-max-articles").set_value(4).run()
    tester.number_input(key="collect-depth").set_value(2).run()
    tester.toggle(key="collect-smart").set_value(False).run()
    tester.button(key="collect-start").click().run()
    (run,) = bench.runs()
    assert (run.settings.flow, run.settings.start_urls) == ("collect", [QUOTE, "https://curdtalk.example/"])
    limits = run.settings.collect
    assert (limits.max_articles, limits.max_depth, limits.use_smart_navigation) == (4, 2, False)
    assert tester.query_params["run"] in (run.id, [run.id])


def test_an_example_starts_in_the_demo_world(app: Callable[..., AppTest], bench: Workbench) -> None:
    tester = app("collect")
    tester.button(key="collect-example-1").click().run()
    (run,) = bench.runs()
    assert (run.settings.world, run.settings.start_urls) == (
        "demo",
        ["https://granvattnet-courier.example/news/"],
    )


def test_a_finished_run_shows_tree_digest_items_and_figures(
    app: Callable[..., AppTest], collected: Collected
) -> None:
    tester = app("collect", run=collected())
    assert not tester.exception
    text = shown(tester)
    parts = [
        "Crawl path",
        "gone on to a section",
        "list: links followed",
        "content taken",
        ": before 2026-10-22",
    ]
    parts += [
        "Third quarter: good or bad?",
        "ledger_lena",
        "below 15",
        "below 60 s",
        "below $0.15",
        "quoted word for word",
        "Left out, as outside the time asked for: ",
    ]
    assert [part for part in parts if part not in text] == []
    assert {button.proto.label for button in tester.get("download_button")} >= {"Markdown", "JSON", "CSV"}


def test_entries_outside_the_time_asked_for_count_as_left_out(bench: Workbench, collected: Collected) -> None:
    view = bench.snapshot(collected())
    late = [node for node in view.state.own.tree.values() if node.status == "dropped"]
    listed = results.list_left_out(view.state)
    assert late and {node.url for node in late} <= {url for url, *_ in listed}
    assert late[0].ended.partition(":")[0] in results.render_left_out(listed)


def test_the_path_is_shown_and_waits(
    app: Callable[..., AppTest], collected: Collected, bench: Workbench
) -> None:
    run_id = collected(mode="step")
    tester = app("collect", run=run_id)
    assert "Next pages, if you approve: 1 page." in shown(tester)
    tester.button(key="collect-approve").click().run()
    bench.drive(run_id)
    tester.run()
    boxes = [box for box in tester.checkbox if not str(box.key).startswith("private:")]
    assert [box.label.replace("\\", "").partition(" (")[0] for box in boxes] == [
        "Third quarter: good or bad?",
        "The factory and the debt",
        "Dividend next spring",
        "next page",
    ]
    boxes[1].set_value(False).run()
    tester.button(key="collect-walk").click().run()
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    assert [item.title for item in state.own.kept_items] == [
        "Third quarter: good or bad?",
        "Dividend next spring",
    ]
    assert state.own.tree[f"{QUOTE}/forum/t/8790"].ended == "Left out by you."


def test_a_second_tab_cannot_approve_twice(
    app: Callable[..., AppTest], collected: Collected, bench: Workbench
) -> None:
    run_id = collected(mode="step")
    one, two = app("collect", run=run_id), app("collect", run=run_id)
    one.button(key="collect-approve").click().run()
    two.button(key="collect-approve").click().run()
    assert "This is how it stands now" in two.info[0].value


def test_a_run_of_another_flow_is_sent_where_it_belongs(
    app: Callable[..., AppTest], demo: Callable[..., str]
) -> None:
    assert "did not collect anything" in shown(app("collect", run=demo()))
    assert "There is no run called" in shown(app("collect", run="nosuchrun"))


def test_a_download_needs_no_session_at_the_click(
    bench: Workbench, collected: Collected, monkeypatch
) -> None:
    made: list[Callable[[], str | bytes]] = []
    monkeypatch.setattr(run.ui, "download", lambda label, key, make, *more, **named: made.append(make))
    monkeypatch.setattr(run.client, "workbench", lambda: bench)
    run._draw_downloads(bench.snapshot(collected(max_articles=1)))
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
    drawn = (
        results.render_items(found.items, run_id)
        + crawl_tree.render(bench.snapshot(run_id).state)
        + run.render_events(bench.snapshot(run_id).state)
    )
    assert len(found.items[0].posts) == 2
    assert "<img" not in drawn and "<script" not in drawn and "&lt;img" in drawn


def page_text(n: int) -> str:
    return f"This is what member number {n} wrote about the matter. "


def test_the_list_of_runs_opens_it_here(app: Callable[..., AppTest], collected: Collected) -> None:
    collected()
    tester = app("runs")
    assert not tester.exception
    assert any("collect" in link.proto.page for link in tester.get("page_link"))
