"""Chat as a person uses it: a PDF and a question on it, a follow-up, a question back, places near one; a
refresh in the middle loses nothing."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.looks import NAMELESS
from tests.browser.screen import Screen, Tab
from tests.browser.served import Served
from tests.browser.test_library import pdf, upload

RULES = (
    "Rules of the Grannsund harbour\n\nBoats longer than twelve metres moor at the north pier of "
    "Grannsund. The harbour master of Grannsund is Tove "
    "Lindqvist, who answers on channel 12. A night in the harbour of Grannsund "
    "costs 180 kronor, electricity included."
)


class Chatting(Screen):
    """One tab on the Chat screen."""

    path = "chat"

    @property
    def box(self) -> Locator:
        return self.page.locator("[data-testid=stChatInputTextArea]:enabled").first

    @property
    def newest(self) -> Locator:
        """The newest turn."""
        return self.page.locator(".st-key-chat-newest")

    def say(self, text: str) -> Chatting:
        """Type and send; wait for the new turn's address."""
        before = self.run_id
        sent = "before => location.search.includes('run=') && (!before || !location.search.includes(before))"
        self.box.fill(text)
        expect(self.page.get_by_test_id("stChatInputSubmitButton")).to_be_enabled()  # no file is on its way
        self.box.press("Enter")
        self.page.wait_for_function(sent, arg=before)
        return self

    def example(self, question: str) -> Chatting:
        """Take an example of the first screen."""
        self.page.get_by_role("button", name=question).click()
        self.page.wait_for_url("**/chat?run=*")
        return self


def test_a_pdf_a_question_on_it_and_a_follow_up(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Chatting(page, server.url).open()
    example = page.get_by_role("button", name="Add the demo knowledge base")
    expect(screen.box.or_(example).first).to_be_visible()
    if example.is_visible():
        example.click()
    expect(screen.box).to_be_visible()
    page.locator(".st-key-chat-first-box input[type=file]").set_input_files(
        upload(("grannsund.pdf", pdf(RULES)))
    )
    expect(page.get_by_text("grannsund.pdf")).to_be_visible()
    screen.say("Who is the harbour master of Grannsund?")
    page.reload()  # in the middle: half a second a step
    expect(screen.newest.locator(".answer")).to_contain_text("Tove Lindqvist")
    expect(page.locator("summary", has_text="About: grannsund")).to_be_visible()
    expect(screen.see(1, 1).locator("mark").first).to_contain_text("harbour master")
    screen.button("All evidence").click()

    first = screen.run_id
    screen.say("And what does a night cost there?")
    expect(screen.newest.locator(".answer")).to_contain_text("180 kronor")
    expect(page.locator(f".st-key-chat-turn-{first}")).to_contain_text("Tove Lindqvist")
    expect(screen.tab("Activity")).to_contain_text("Searched for")
    expect(screen.tab("Passages").locator("td").first).to_contain_text("grannsund")

    screen.box.fill("not sent yet")
    server.wait_for_draft("not sent yet", "chat:say")
    page.reload()
    expect(screen.box).to_have_value("not sent yet")
    assert screen.too_wide() == []


def test_a_question_back_is_answered_in_its_form(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Chatting(page, server.url).open().example("Tell me about it")
    expect(screen.newest).to_contain_text("What would you like to know about")
    assert page.evaluate(NAMELESS) == []
    page.get_by_label("Your answer").fill("The error code E31")
    screen.button("Answer").click()
    expect(screen.newest.locator(".answer")).to_contain_text("more than 90 seconds")
    expect(screen.newest.locator(".bubble.bot")).to_contain_text("What would you like to know about")


def test_places_stand_on_a_map_by_distance(server: Served, tab: Tab) -> None:
    page = tab(width=400, dark=True)
    screen = Chatting(page, server.url).open().example("Where is the nearest repair café to Stenfors?")
    rows = screen.newest.locator(".places tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Repair Café Forge")
    expect(rows.nth(1)).to_contain_text("260 m")
    expect(page.get_by_role("img", name="Map: 3 places of the kind repair café")).to_be_visible()
    expect(page.locator("summary", has_text="About: Alerts, Editions and prices, 4 more")).to_be_visible()
    screen.looks_right()


def test_what_the_library_does_not_know_becomes_research(server: Served, tab: Tab) -> None:
    page = tab(width=400)
    screen = Chatting(page, server.url).open().example("What does the Harbour edition cost?")
    expect(screen.newest.locator(".answer")).to_contain_text("48 euros")
    screen.say("Can Fyrvakt water my plants while I am away?")
    expect(screen.newest).to_contain_text("Nothing that was read answers this question.")
    screen.looks_right()
    screen.button("Open as research").click()
    page.wait_for_function("() => location.pathname === '/' && location.search.includes('run=')")
    expect(page.get_by_role("heading", name="water")).to_be_visible()
