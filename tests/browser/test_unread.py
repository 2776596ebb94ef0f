"""A page behind a paywall, given by hand: its text pasted, then its file; read, marked, and used by the
answer. And two versions of a page."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from agent.settings import config as configuration
from agent.types import Settings
from agent.workbench import Workbench
from tests.browser.looks import NAMELESS, PALE
from tests.browser.screen import Screen, Tab, act_until
from tests.browser.served import Served
from tests.web.folders import page as doc
from tests.web.folders import write_world

PREMIUM = "https://granvattnet-courier.example/premium/2026/10/22/dairy-loans"
QUESTION = f"How much did the roof of the dairy in Lövnäs cost, according to {PREMIUM} ?"
SAID = (
    "Two banks said no. The roof of the dairy in Lövnäs cost 2,340,000 kronor, the board told the "
    "Courier. The third bank asked for a pledge."
)


def test_what_could_not_be_read_is_given_by_hand(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(QUESTION))
    screen.stands("Answer to review")
    panel = screen.unread()
    row = panel.locator("[class*=st-key-research-unread-]").filter(has_text="premium")
    expect(row).to_contain_text("blocked us")
    expect(row).to_contain_text("With a subscription of your own")
    assert page.evaluate(NAMELESS) == [] and page.evaluate(PALE) == []

    field = page.get_by_label("Page text", exact=True)
    act_until(row.get_by_role("button", name="Paste its text").click, field)
    field.fill(SAID)
    screen.button("Use this text").click()
    expect(page.locator(".answer")).to_contain_text("2,340,000 kronor")
    expect(screen.see()).to_contain_text("text pasted by a person")
    screen.tells("You pasted the text of")
    panel = screen.unread()
    expect(panel.locator("[class*=st-key-research-unread-]").filter(has_text="premium")).to_have_count(0)

    at, add = page.get_by_label("Page address"), screen.button("Add a page")
    act_until(lambda: at.is_visible() or add.click(), at)
    text = b"# Minutes\n\nThe roof of the dairy in Lovnas cost 2,410,000 kronor with the gutters, say the minutes of the board of 12 March.\n"
    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(
        {"name": "minutes.md", "mimeType": "text/markdown", "buffer": text}
    )
    screen.button("Use this file").click()
    expect(page.get_by_text("What changed since answer 2")).to_be_visible()
    screen.tells("You uploaded a file for")
    screen.tells("Answer 3 written")


def _read_twice(server: Served, folder: Path) -> tuple[str, str]:
    """A run that read a page whose text has changed since another run read it; gives its id and the
    page's."""
    bench, url = (
        Workbench(configuration.read_config({"TOUCHSTONE_DATA": str(server.data)})),
        "https://heron.example/about",
    )
    for number in (412, 410):
        bench.worker._worlds.clear()
        text = (
            f"The brass heron of Ostrava has {number} feathers. It stands on the old "
            "bridge.\n\nIt was made in 1921 by two sisters."
        )
        world = write_world(
            folder, [doc(url, "The brass heron", text), doc("https://b.example/", "Bridge", "A bridge.")]
        )
        asked = Settings(world=world, model="keyless", start_urls=[url])
        run_id = bench.start("How many feathers has the brass heron of Ostrava?", asked)
        bench.drive(run_id)
    page_id = bench.snapshot(run_id).state.pages[url].page_id
    bench.shutdown()
    return run_id, page_id


def test_two_versions_of_a_page_side_by_side(server: Served, tab: Tab, tmp_path: Path) -> None:
    run_id, page_id = _read_twice(server, tmp_path / "herons")
    page = tab()
    page.goto(f"{server.url}page?run={run_id}&id={page_id}")
    expect(page.locator(".versions li")).to_have_count(2)
    page.get_by_role("link", name="compare").click()
    expect(page.locator(".versus")).to_be_visible()
    assert {page.locator(".versus del").inner_text(), page.locator(".versus ins").inner_text()} == {
        "410",
        "412",
    }
    expect(page.get_by_text("Quotes that are not in the other version")).to_be_visible()
    assert page.evaluate(NAMELESS) == [] and page.evaluate(PALE) == []
    with page.expect_download() as download:
        page.get_by_text("About this page").click()
        page.get_by_role("button", name="Download original").click()
    assert download.value.suggested_filename == "about.txt"
    assert b"<h1>" in Path(download.value.path()).read_bytes()
    page.locator(".kept a", has_text="410 feathers").click()
    expect(page.locator(".paper mark.chosen").last).to_contain_text("410 feathers")
    page.set_viewport_size({"width": 400, "height": 900})
    expect(page.get_by_role("heading", name="Kept from this page")).to_be_visible()
    assert Screen(page, server.url).too_wide() == []
