"""What people do while a run works: watch, pause, refresh, restart; against the real server and the demo world,
answered by the recorded model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.screen import QUESTION, Screen, Tab, act_until
from tests.browser.served import Served


def test_ask_watch_accept_download(unhurried: Served, tab: Tab, tmp_path: Path) -> None:
    page = tab()
    screen = Screen(page, unhurried.url).open()
    expect(page.get_by_role("heading", name="Research you can check.")).to_be_visible()
    expect(page.get_by_text("There is no network.")).to_be_visible()
    screen.ask()
    expect(page.locator(".st-key-run-status .world")).to_have_text("demo world, recorded model")
    screen.stands("Working")
    screen.journey()
    expect(page.locator(".step .head", has_text="Search").first).to_be_visible()
    screen.stands("Answer to review")
    expect(screen.answer.get_by_text("sources disagree", exact=True)).to_be_visible()
    expect(screen.answer).to_contain_text("counts 31 on 1 September 2026")
    before = screen.answer.bounding_box()
    expect(screen.see(1, 1).locator("mark").first).to_contain_text("31 people")
    assert screen.answer.bounding_box() == before, "no letter of the answer moves"

    screen.button("Accept").click()
    screen.stands("Accepted")
    expect(screen.button("Accept")).to_be_hidden()
    screen.button("Export").click()
    download = screen.download("Markdown")
    report = Path(download.path()).read_text(encoding="utf-8")
    assert download.suggested_filename == "how-many-people-does-alvmora-mejeri-employ.md"
    assert QUESTION in report and "counts 31" in report and "alvmora-mejeri.example" in report


def test_refresh_and_restart_in_the_middle(served: Callable[..., Served], tab: Tab) -> None:
    own = served(STEP_GAP="1.5")
    page = tab()
    screen = Screen(page, own.url).open().ask()
    screen.stands("Working")
    run_id = screen.run_id
    page.reload()
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    assert screen.run_id == run_id
    screen.journey()
    expect(page.locator(".step .dot", has_text="1").first).to_be_visible()
    screen.stands("Working")

    own.kill()
    own.settings["STEP_GAP"] = "0"
    own.start()
    screen.open(run_id)
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    screen.stands("Answer to review")
    cards = screen.cards()
    looks = [card for card in cards if card.startswith(("Search", "Read"))]
    assert len(looks) == len(set(looks)), f"a look was made twice: {looks}"
    expect(screen.answer).to_contain_text("counts 31 on 1 September 2026")


def test_an_open_page_takes_a_click_when_its_server_is_another_one(
    served: Callable[..., Served], tab: Tab
) -> None:
    own = served(STEP_GAP="0")
    page = tab()
    screen = Screen(page, own.url).open().ask(step=True)
    approve = page.get_by_role("button", name="Approve")
    screen.journey()
    expect(approve).to_be_enabled()
    own.kill()
    expect(approve).to_be_disabled()
    own.start()
    act_until(approve.click, page.locator(".step .head", has_text="Search").first)


def test_pause_note_and_resume(unhurried: Served, tab: Tab) -> None:
    page = tab()
    screen = (
        Screen(page, unhurried.url).open().ask("Which architect drew the new Kallsteg factory in Stenfors?")
    )
    screen.button("Pause").click()
    screen.stands("Paused")
    screen.button("Add guidance").click()
    page.get_by_label("Guidance for the next steps").fill("Look at the newspaper first")
    screen.button("Send guidance").click()
    expect(screen.notice).to_contain_text("Noted")
    screen.journey()
    expect(page.locator(".step .head", has_text="Look at the newspaper first")).to_be_visible()
    screen.stands("Paused")
    other = Screen(tab(), unhurried.url).open(screen.run_id)
    other.stands("Paused")
    screen.button("Resume").click()
    screen.stands("Answer to review")
    other.stands("Answer to review")  # the other tab saw it wake up by itself


def test_polling_stops_when_the_run_rests(unhurried: Served, tab: Tab) -> None:
    page = tab()
    sent: list[int] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append(1)))
    screen = Screen(page, unhurried.url).open().ask()
    screen.stands("Working")
    while_working = len(sent)
    screen.stands("Answer to review")
    assert len(sent) > while_working
    expect(screen.button("Accept")).to_be_visible()
    page.wait_for_load_state("networkidle")
    at_rest = len(sent)
    page.evaluate(
        "() => new Promise(resolve => setTimeout(resolve, 3000))"
    )  # three polls' time: what should not come cannot be waited for
    assert len(sent) <= at_rest + 1
