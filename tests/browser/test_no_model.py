"""“No model” in a real browser, while a model server is set up and counts its calls."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.screen import FOUNDED, Screen, Tab
from tests.browser.served import Served
from tests.web.model_server import ModelServer

NO_MODEL = "No model (passages only)"


def test_branch_and_examples_without_a_model_call_none(served: Callable[..., Served], tab: Tab) -> None:
    with ModelServer(lambda request: "{}", models=["served"]) as model:
        own = served(STEP_GAP="0", OPENAI_BASE_URL=model.url, MODEL="served")
        page = tab()
        screen = Screen(page, own.url).open()
        with screen.menu(screen.button("Options"), page.get_by_label("Model", exact=True)):
            screen.pick("Model", NO_MODEL)
        expect(page.get_by_text("without a model")).to_be_visible()
        screen.ask(FOUNDED)
        screen.stands("Answer to review")
        first = screen.run_id
        screen.choose_under(screen.card(2), "Start a variant from here")
        expect(page.get_by_label("Model", exact=True)).to_have_value(NO_MODEL)
        screen.button("Start the variant").click()
        page.wait_for_url(lambda url: first not in url)
        screen.stands("Answer to review")
        assert model.requests == []

        page.goto(f"{own.url}reply")
        with screen.menu(screen.button("Options"), page.get_by_label("Model", exact=True)):
            screen.pick("Model", NO_MODEL)
        page.get_by_role("button", name="How do I install Fyrvakt on Debian?").click()
        page.wait_for_url("**/reply?run=*")
        screen.stands("Failed, so no reply")
        expect(page.get_by_text("A reply needs a model, and none is connected.").first).to_be_visible()
        assert model.requests == []
