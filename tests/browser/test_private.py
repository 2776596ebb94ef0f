"""A private note on the screen: its owner sees it, and erases it for good."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from agent.settings import config
from agent.types import Settings
from agent.workbench import Workbench
from tests.browser.forked import ForkedServed
from tests.browser.screen import QUESTION, Screen, Tab

NOTE = "Shorter, please: my source Zyxanota reads it first."


def test_a_private_note_is_shown_and_erased(tmp_path: Path, tab: Tab) -> None:
    data = tmp_path / "data"
    bench = Workbench(config.read_config({"TOUCHSTONE_DATA": str(data), "OLLAMA_URL": ""}))
    run_id = bench.start(QUESTION, Settings(world="demo", model="keyless"))
    bench.drive(run_id)
    bench.act(run_id, "send_back", bench.snapshot(run_id).head, note=NOTE, private=True)
    bench.drive(run_id)
    bench.shutdown()
    served, page = ForkedServed(data).start(), tab()
    try:
        screen = Screen(page, served.url).open(run_id)
        screen.stands("Answer to review")
        screen.tells("You sent the answer back (private)")
        card = page.locator("[class*=st-key-research-step]", has_text="You sent the answer back (private)")
        screen.choose_under(card, "Erase this note")
        expect(page.get_by_text("Backups that were made before still hold it.")).to_be_visible()
        page.screenshot(path=tmp_path / "erase.png")
        screen.button("Erase for good").click()
        expect(page.get_by_text("Erased. No text of the note is left here.").first).to_be_visible()
        expect(page.get_by_text("Zyxanota")).to_have_count(0)
    finally:
        served.stop()
    assert all(b"Zyxanota" not in path.read_bytes() for path in data.glob("touchstone.db*"))
