"""What can be said of looks by measuring: names on all controls, contrast in both themes, nothing cut off."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.screen import Screen
from tests.browser.served import Served

NAMELESS = """() => [...document.querySelectorAll('.stMain button, .stMain input, .stMain textarea, .stMain a, .stMain summary, .stMain [role=tab]')]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 1)
  .filter(e => !(e.innerText || '').trim() && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')
    && !e.getAttribute('title') && !(e.labels && e.labels.length) && !e.closest('[aria-label]'))
  .map(e => e.outerHTML.slice(0, 120))"""

PALE = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
    return [r, g, b, a / 255]
  }
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]))
  const linear = v => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  const behind = e => {
    const layers = []
    for (let n = e; n; n = n.parentElement) layers.unshift(rgba(getComputedStyle(n).backgroundColor))
    return layers.reduce((below, top) => over(top, below), [255, 255, 255])
  }
  const pale = []
  for (const e of document.querySelectorAll('.ts *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue
    const style = getComputedStyle(e)
    if (!e.checkVisibility() || !e.getBoundingClientRect().width) continue
    const back = behind(e), ink = over(rgba(style.color), back)
    const [a, b] = [light(ink), light(back)].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    if (ratio < 4.5) pale.push(ratio.toFixed(2) + ' ' + e.className + ': ' + e.textContent.slice(0, 40))
  }
  return [...new Set(pale)]
}"""


@pytest.fixture(scope="module")
def run_id(server: Served, browser) -> str:
    context = browser.new_context()
    screen = Screen(context.new_page(), server.url).open().ask("On what date did the Stenfors bridge reopen to traffic?")
    screen.stands("Answer to review")
    found = screen.run_id
    context.close()
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(server: Served, tab: Callable[..., Page], run_id: str, dark: bool) -> None:
    page = tab(dark=dark)
    screen = Screen(page, server.url).open()
    expect(screen.question).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.stApp')).colorScheme") == ("dark" if dark else "light")
    assert page.evaluate(PALE) == []
    screen.open(run_id).stands("Answer to review")
    for name in ("Facts", "Confidence", "Conflicts", "Could not read"):
        screen.tab(name)
        assert page.evaluate(PALE) == [], name
    for place in ("runs", "settings"):
        page.goto(server.url + place)
        expect(page.locator(".ts-question")).to_be_visible()
        assert page.evaluate(PALE) == [], place


def test_every_control_has_a_name(server: Served, tab: Callable[..., Page], run_id: str) -> None:
    page = tab()
    screen = Screen(page, server.url).open()
    expect(screen.question).to_be_visible()
    screen.button("Options").click()
    expect(page.get_by_label("Where to look")).to_be_visible()
    assert page.evaluate(NAMELESS) == []
    screen.open(run_id).stands("Answer to review")
    screen.button("Send back").click()
    expect(page.get_by_label("What is wrong or missing?")).to_be_visible()
    assert page.evaluate(NAMELESS) == []
    for place in ("runs", "settings"):
        page.goto(server.url + place)
        expect(page.locator(".ts-question")).to_be_visible()
        assert page.evaluate(NAMELESS) == [], place


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_cut_off(server: Served, tab: Callable[..., Page], run_id: str, width: int) -> None:
    page = tab(width=width)
    screen = Screen(page, server.url).open()
    expect(screen.question).to_be_visible()
    assert screen.too_wide() == []
    screen.open(run_id).stands("Answer to review")
    page.locator(".answer .cite summary").first.click()
    assert screen.too_wide() == []
    for place in ("runs", "settings"):
        page.goto(server.url + place)
        expect(page.locator(".ts-question")).to_be_visible()
        assert screen.too_wide() == [], place


def test_the_keyboard_alone_opens_a_quote(server: Served, tab: Callable[..., Page], run_id: str) -> None:
    page = tab()
    Screen(page, server.url).open(run_id).stands("Answer to review")
    cite = page.locator(".answer .cite").first
    cite.locator("summary").focus()
    assert "none" not in cite.locator("summary").evaluate("e => { e.focus({focusVisible: true}); return getComputedStyle(e).outlineStyle }")
    page.keyboard.press("Enter")
    expect(cite.locator(".quote").first).to_be_visible()
