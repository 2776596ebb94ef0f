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
    panel(page, "arxiv").get_by_text("arXiv", exact=True).click()
    expect(badge(page, "arxiv")).to_have_text("off")
    expect(panel(page, "arxiv").get_by_role("button", name="Test")).to_be_hidden()
    page.reload()
    expect(badge(page, "arxiv")).to_have_text("off")
    panel(page, "arxiv").get_by_text("arXiv", exact=True).click()
    expect(badge(page, "arxiv")).to_have_text("not asked yet")
    expect(page.get_by_text("docs/settings.md")).to_be_visible()
    bottom = page.get_by_text("docs/settings.md").bounding_box()
    assert bottom and bottom["y"] <= 1_600, "all of the settings are seen at once, nearly"


def test_a_key_is_saved_and_removed_and_only_then_is_there_a_switch(server: Served, tab: Tab) -> None:
    page = tab()
    page.goto(f"{server.url}settings")
    switch = panel(page, "brave").get_by_role("switch").or_(panel(page, "brave").get_by_role("checkbox"))
    expect(badge(page, "brave")).to_have_text("needs a key")
    expect(switch).to_be_disabled()
    field, save = (
        page.get_by_label("Key", exact=True).last,
        page.locator(".st-key-settings-brave-save button"),
    )
    with Screen(page, server.url).menu(panel(page, "brave").get_by_role("button", name="Set up"), save):
        field.fill("brave-canary")
        save.click()
        expect(badge(page, "brave")).to_have_text("not asked yet")
        expect(switch).to_be_enabled()
        expect(field).to_have_value("")
        assert "brave-canary" not in page.content()
        field.fill("brave-canary-2")  # another key takes its place
        save.click()
        expect(field).to_have_value("")
        assert "brave-canary" not in page.content()
        page.locator(".st-key-settings-brave-remove button").click()
        expect(badge(page, "brave")).to_have_text("needs a key")
        expect(switch).to_be_disabled()


def test_a_failed_test_says_why_and_changes_the_mark(server: Served, tab: Tab) -> None:
    page = tab(width=400, dark=True)
    page.goto(f"{server.url}settings")
    expect(badge(page, "crossref")).to_have_text("not asked yet")
    panel(page, "crossref").get_by_role("button", name="Test").click()
    expect(Screen(page, server.url).notice).to_contain_text("did not answer")
    expect(badge(page, "crossref")).not_to_have_text("not asked yet")
    expect(badge(page, "crossref")).not_to_have_text("works")
    Screen(page, server.url).looks_right()


def test_a_model_is_set_up_by_keyboard_used_at_once_and_removed(
    served: Callable[..., Served], tab: Tab
) -> None:
    server, page = served(STEP_GAP="0"), tab(width=400, dark=True)
    with ModelServer(lambda request: '{"ok": true}', models=["first-model", "second-model"]) as model:
        page.goto(f"{server.url}settings")
        box, screen = page.locator(".st-key-settings-model"), Screen(page, server.url)
        save = box.get_by_role("button", name="Save", exact=True)
        expect(box).to_contain_text("No AI model connected")
        screen.pick("Server", "Mistral")
        address, key = (box.get_by_label(name, exact=True).first for name in ("Address", "Key"))
        expect(address).to_have_value("https://api.mistral.ai/v1")
        address.fill(model.url)
        key.focus()
        page.keyboard.type("model-canary")
        for _ in range(8):
            page.keyboard.press("Tab")
            if save.evaluate("button => button === document.activeElement"):
                break
        page.keyboard.press("Enter")
        expect(box).to_contain_text("first-model at")
        expect(save).to_be_focused()
        expect(key).to_have_value("")
        box.get_by_role("button", name="Test").click()
        expect(screen.notice).to_contain_text("in JSON by a schema")
        assert model.requests[-1].headers["authorization"] == "Bearer model-canary"
        screen.pick("Main model", "second-model")
        save.click()
        expect(box).to_contain_text("second-model at")
        assert "model-canary" not in page.content()
        screen.looks_right()
        box.get_by_role("button", name="Remove the key").click()
        expect(box.get_by_role("button", name="Remove the key")).to_be_hidden()
        expect(address).to_have_value(model.url)
        address.fill("")
        save.click()
        expect(box).to_contain_text("No AI model connected")
