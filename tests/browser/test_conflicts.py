"""A conflict in a real browser: both sides are seen, a step is asked for, a value is taken with a reason, and
the answer states it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.screen import Screen, Tab
from tests.browser.served import Served


def test_a_conflict_is_looked_into_and_settled_with_a_reason(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open().ask("In which year was Älvmora Mejeri founded?")
    screen.stands("Answer to review")
    expect(page.locator(".answer")).to_contain_text("The sources differ on")
    panel = screen.tab("Conflicts")
    expect(panel.locator("tr", has_text="1979")).to_contain_text("1 independent source")
    other = panel.locator("tr", has_text="1974")
    expect(other).to_contain_text("1 independent source")
    other.locator("summary").click()
    expect(other.locator(".quote").first).to_contain_text("founded in 1974")
    expect(other.get_by_role("link", name="stored page").first).to_be_visible()

    screen.button("Look for more evidence").click()
    words = page.get_by_label("Words to search for")
    expect(words).to_have_value("In which year was Älvmora Mejeri founded 1974 1979")
    words.fill("Sixten Tjäder brewery Lövnäs")
    screen.button("Search for this").click()
    expect(page.locator(".step .head", has_text="You asked for more evidence on a conflict")).to_be_visible()
    expect(page.locator(".step .head", has_text="Sixten Tjäder brewery Lövnäs").first).to_be_visible()
    expect(page.locator(".step .head", has_text="Answer 2 written")).to_be_visible()
    screen.stands("Answer to review")

    screen.tab("Conflicts")
    screen.button("Resolve").click()
    page.get_by_text("Take “1979”").click()
    screen.button("Save decision").click()
    expect(screen.notice).to_contain_text("Give a reason")
    page.get_by_label("Why? (shown in the answer)").fill("The register is the first source.")
    tabs = page.locator("[class*=st-key-research-tab]").element_handle()
    screen.button("Save decision").click()
    settled = (
        "A person settled this: Älvmora Mejeri (founded): “1979”, because “The register is the first source.”"
    )
    expect(page.locator(".answer")).to_contain_text(settled)
    expect(page.get_by_label("Why? (shown in the answer)")).not_to_be_visible()
    expect(page.locator(".answer")).not_to_contain_text("The sources differ")
    expect(panel).to_contain_text("resolved by you")
    screen.button("Reopen").click()
    expect(page.locator(".answer")).to_contain_text("The sources differ on")
    expect(panel).to_contain_text("Unresolved")
    screen.stands("Answer to review")
    assert tabs.evaluate("tabs => tabs.isConnected"), (
        "the tabs were built anew while the answer was rewritten"
    )
