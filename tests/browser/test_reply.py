"""Reply as a person uses it: a conversation typed and read, a reply with its steps, a silence with its
reason; nothing lost on the way."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.screen import Screen, Tab
from tests.browser.served import Served

TALK = (
    "User: What does the Harbour edition cost?\nYou: Harbour costs 48 euros a year for up "
    "to 25 machines.\nUser: And for a school?"
)


def test_a_reply_and_a_silence(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url)
    page.goto(f"{server.url}reply")
    page.get_by_label("The conversation, oldest message first").fill(TALK)
    expect(page.locator(".bubble")).to_have_count(3)
    page.reload()  # the draft is in the memory of the server, and written nowhere
    expect(page.get_by_label("The conversation, oldest message first")).to_have_value(TALK)
    expect(page.get_by_role("button", name="Make it the user’s Harbour costs 48 euros")).to_be_visible()

    page.get_by_label("Answer from").click()
    page.get_by_role("option", name="The demo knowledge base (invented)").click()
    page.get_by_role("button", name="Reply", exact=False).last.click()
    page.wait_for_url("**/reply?run=*")
    page.reload()  # in the middle: half a second a step
    screen.stands("Replied")
    expect(page.locator(".bubble.new")).to_contain_text("half the price")
    for told in ("Should it answer: yes", "Sources chosen: kb:editions-and-prices.md", "Sources read: "):
        expect(screen.tab("Activity")).to_contain_text(told)
    expect(page.get_by_text("This conversation is not stored")).to_be_visible()
    replied = screen.run_id
    expect(screen.see(1, 1).locator("mark").first).to_contain_text("half")
    screen.looks_right()

    page.get_by_role("link", name="Another conversation").click()
    expect(page.get_by_role("heading", name="Reply, or stay silent.")).to_be_visible()
    page.wait_for_function("() => !location.search")
    expect(page.get_by_label("The conversation, oldest message first")).to_have_value("")
    page.get_by_role("button", name="Can Fyrvakt water my plants").click()
    page.wait_for_url("**/reply?run=*")
    screen.stands("No reply")
    expect(page.locator(".silence")).to_contain_text("Nothing is said. No source of the knowledge base fits.")
    expect(screen.tab("Activity")).to_contain_text("Sources chosen: none")
    page.get_by_role("link", name="Another conversation").click()
    page.get_by_role("link", name="And for a school?").click()
    page.wait_for_url(f"**/reply?run={replied}")  # a link to the same screen is in the address, too
    expect(page.locator(".bubble.new")).to_contain_text("half the price")


def test_reply_looks_right(server: Served, tab: Tab) -> None:
    page = tab(width=400, dark=True)
    screen = Screen(page, server.url)
    page.goto(f"{server.url}reply")
    page.get_by_text("Let a bot ask").click()
    expect(page.get_by_text("curl -s")).to_be_visible()
    screen.looks_right()
    page.get_by_role("button", name="thanks, that did it!").click()
    page.wait_for_url("**/reply?run=*")
    screen.stands("No reply")
    screen.looks_right()
