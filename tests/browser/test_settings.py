"""The Settings screen in a real browser: engines are switched off and on, set up with a key, and really tried."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.screen import Screen, Tab
from tests.browser.served import Served
from tests.web.model_server import ModelServer


def panel(page: Page, engine: str) -> Locator:
    return page.locator(f".st-key-settings-engine-{engine}")


def badge(page: Page, engine: str) -> Locator:
    return panel(page, engine).locator(".chip")


def test_an_engine_is_switched_off_and_on_and_stays_so(server: Served, tab: Tab) -> None:
    page = tab()
    page.goto(f"{server.url}settings")
    expect(badge(page, "arxiv")).to_have_text("not asked yet")
    panel(page, "arxiv").get_by_text("On", exact=True).click()
    expect(badge(page, "arxiv")).to_have_text("off")
    expect(panel(page, "arxiv").get_by_role("button", name="Check")).to_be_hidden()
    page.reload()
    expect(badge(page, "arxiv")).to_have_text("off")
    panel(page, "arxiv").get_by_text("On", exact=True).click()
    expect(badge(page, "arxiv")).to_have_text("not asked yet")


def test_a_key_is_saved_and_removed_and_only_then_is_there_a_switch(server: Served, tab: Tab) -> None:
    page = tab()
    page.goto(f"{server.url}settings")
    switch = panel(page, "brave").get_by_text("On", exact=True)
    expect(badge(page, "brave")).to_have_text("needs a key")
    expect(switch).to_be_hidden()
    panel(page, "brave").get_by_role("button", name="Set up").click()
    page.get_by_label("Key (BRAVE_API_KEY)", exact=True).fill("brave-canary")
    page.locator(".st-key-settings-BRAVE_API_KEY-brave-save button").click()
    expect(badge(page, "brave")).to_have_text("not asked yet")
    expect(switch).to_be_visible()
    assert "brave-canary" not in page.content()
    field = page.get_by_label("Key (BRAVE_API_KEY)", exact=True)  # another key takes its place
    expect(field).to_have_count(1)  # drawn anew, and the former one is gone
    field.fill("brave-canary-2")
    page.locator(".st-key-settings-BRAVE_API_KEY-brave-save button").click()
    expect(field).to_have_value("")
    assert "brave-canary" not in page.content()
    page.locator(".st-key-settings-BRAVE_API_KEY-brave-remove button").click()
    expect(badge(page, "brave")).to_have_text("needs a key")
    expect(switch).to_be_hidden()


def test_a_failed_check_says_why_and_changes_the_mark(server: Served, tab: Tab) -> None:
    page = tab(width=400, dark=True)
    page.goto(f"{server.url}settings")
    expect(badge(page, "crossref")).to_have_text("not asked yet")
    panel(page, "crossref").get_by_role("button", name="Check").click()
    expect(panel(page, "crossref").get_by_test_id("stAlert")).to_contain_text("did not answer")
    expect(badge(page, "crossref")).not_to_have_text("not asked yet")
    expect(badge(page, "crossref")).not_to_have_text("works")
    assert Screen(page, server.url).too_wide() == []


def test_a_model_is_set_up_used_at_once_and_removed(served: Callable[..., Served], tab: Tab) -> None:
    server, page = served(STEP_GAP="0"), tab(width=400, dark=True)
    with ModelServer(lambda request: '{"ok": true}', models=["first-model"]) as model:
        page.goto(f"{server.url}settings")
        box = page.locator(".st-key-settings-model")
        expect(box).to_contain_text("No model")
        box.get_by_role("button", name="Set up").click()
        page.get_by_label("Address (OPENAI_BASE_URL)", exact=True).fill(model.url)
        page.locator(".st-key-settings-OPENAI_BASE_URL-save button").click()
        expect(box).to_contain_text("first-model")
        field = page.get_by_label("Key (OPENAI_API_KEY)", exact=True)
        expect(field).to_have_count(1)  # drawn anew, and the former one is gone
        field.fill("model-canary")
        page.locator(".st-key-settings-OPENAI_API_KEY-save button").click()
        expect(page.get_by_text("Held in memory only")).to_be_visible()
        page.keyboard.press("Escape")
        box.get_by_role("button", name="Check").click()
        expect(box.get_by_test_id("stAlert")).to_contain_text("first-model at")
        assert model.requests[-1].headers["authorization"] == "Bearer model-canary"
        assert "model-canary" not in page.content() and Screen(page, server.url).too_wide() == []
        box.get_by_role("button", name="Set up").click()
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            remove = page.locator(f".st-key-settings-{name}-remove button")
            remove.click()
            expect(remove).to_be_hidden()
        expect(box).to_contain_text("No model")
