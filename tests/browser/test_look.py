"""What can be said of looks by measuring: names on all controls, contrast in both themes, nothing cut off."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looks import FOCUS, NAMELESS, PALE
from tests.browser.screen import FOUNDED, TOO_WIDE, Screen, Tab
from tests.browser.served import Served


@pytest.fixture(scope="module")
def run_id(server: Served) -> str:
    """A run whose sources disagree."""
    return server.answered(FOUNDED)


SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def stands_out(page: Page, what: str = "") -> None:
    """See that texts stand out from what is behind them, in both themes."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(".stApp")).to_have_css("color-scheme", scheme)
        assert page.evaluate(PALE) == [], (what, scheme)


def test_texts_stand_out_from_what_is_behind_them_none_is_cut_off_and_every_control_has_a_name(
    server: Served, tab: Tab, run_id: str
) -> None:
    page = tab()
    screen = Screen(page, server.url).open()
    expect(screen.question).to_be_visible()
    stands_out(page)
    assert screen.too_wide() == []
    with screen.menu(screen.button("Options"), page.get_by_label("Search in")):
        assert page.evaluate(NAMELESS) == []
    screen.open(run_id).stands("Answer to review")
    screen.see(1, 1)
    assert screen.too_wide() == []
    stands_out(page)
    for name in ("Sources", "Facts", "Plan", "Activity", "Conflicts"):
        screen.tab(name)
        stands_out(page, name)
    with screen.menu(screen.button("Send back"), page.get_by_label("What is wrong or missing?")):
        assert page.evaluate(NAMELESS) == []

    page.set_viewport_size({"width": 390, "height": 900})
    sides = screen.tab("Conflicts").locator(".side")
    expect(sides).to_have_count(2)
    boxes = [side.bounding_box() for side in sides.all()]
    assert boxes[0] and boxes[1] and boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert min(box["width"] for box in boxes if box) > 250


SCREENS = ("site", "collect", "check_text", "reply", "chat", "batch", "library", "runs", "settings")


def test_every_screen_can_be_read(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url)
    for place in SCREENS:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(server.url + place)
        expect(page.locator(".ts h1").first).to_be_visible()
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        stands_out(page, place)
        assert page.evaluate(NAMELESS) == [], place
        assert screen.too_wide() == [], place
        page.set_viewport_size({"width": 400, "height": 900})
        page.wait_for_function(f"() => !({TOO_WIDE})().length", timeout=10_000)


def test_the_tab_key_reaches_the_controls_and_shows_where_it_is(
    server: Served, tab: Tab, run_id: str
) -> None:
    page = tab()
    for address in (f"?run={run_id}", "batch"):
        page.goto(server.url + address)
        expect(page.locator(".ts h1").first).to_be_visible()
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        reached: list[str] = []
        for _ in range(30):
            page.keyboard.press("Tab")
            what, shown = page.evaluate(FOCUS)
            assert shown, f"{address}: the focus cannot be seen on {what}"
            reached += [what] if what else []
        assert len(set(reached)) >= 6, reached  # Batch has few controls without a model, some of one kind
