"""The library as a person uses it: documents added, searched, opened, tagged, deleted and taken back; what is
refused is told."""

from __future__ import annotations

from collections.abc import Callable

from fpdf import FPDF
from playwright.sync_api import expect

from tests.browser.looks import NAMELESS, PALE
from tests.browser.screen import Screen, Tab
from tests.browser.served import Served

HANDBOOK = b"# Crew handbook\n\nEvery crew member wears a life vest on deck.\n\n## Meals\n\nSupper is served at half past six.\n"
BERTHS = b"berth,price\nnorth pier,180\nsouth pier,140\n"


def pdf(text: str) -> bytes:
    """A PDF with this text."""
    document = FPDF()
    document.add_page()
    document.set_font("helvetica", size=12)
    document.multi_cell(0, 6, text)
    return bytes(document.output())


def upload(*files: tuple[str, bytes]) -> list[dict[str, object]]:
    """Files as Playwright wants them."""
    return [{"name": name, "mimeType": "application/octet-stream", "buffer": data} for name, data in files]


def test_the_first_documents_are_added_found_opened_and_taken_back(
    served: Callable[..., Served], tab: Tab
) -> None:
    page = tab()
    screen = Screen(page, served().url)
    page.goto(f"{screen.url}library")
    expect(page.get_by_text("The library is empty")).to_be_visible()
    piers = pdf(
        "Rules of the harbour\n\nBoats longer than twelve metres moor at the north pier. "
        "The harbour master is Tove Lindqvist."
    )
    page.locator("input[type=file]").set_input_files(
        upload(
            ("broken.pdf", b"%PDF-1.4 no"),
            ("rules.pdf", piers),
            ("crew.md", HANDBOOK),
            ("berths.csv", BERTHS),
        )
    )
    told = page.locator(".st-key-library-added")
    expect(told).to_contain_text("3 documents added, 1 not taken")
    expect(told).to_contain_text("broken.pdf: cannot be added. The PDF is damaged")
    expect(page.get_by_role("radio", name="Add")).to_be_checked()

    page.get_by_role("radio", name="Search").click()
    page.get_by_label("Search the texts").fill("harbour master")
    expect(page.locator(".snippet mark").first).to_be_visible()
    page.locator(".st-key-library-passages a").first.click()
    expect(page.locator(".paper mark").first).to_contain_text("Tove Lindqvist")
    page.get_by_role("link", name="Back to the library").click()
    expect(page.get_by_label("Search the texts")).to_have_value("harbour master")

    page.get_by_role("radio", name="Sources").click()
    expect(page.get_by_text("3 sources")).to_be_visible()
    tags = page.get_by_role("combobox", name="Tags")
    with screen.menu(page.get_by_role("button", name="Manage berths"), tags):
        tags.fill("piers")
        tags.press("Enter")
        expect(page.locator(".source", has_text="#piers")).to_be_visible()
    page.get_by_role("button", name="Delete berths").click()
    expect(page.get_by_text("“berths” is in the bin.")).to_be_visible()
    expect(page.get_by_text("2 sources")).to_be_visible()
    page.reload()
    expect(page.get_by_text("2 sources")).to_be_visible()
    page.get_by_text("In the bin").click()
    page.get_by_role("button", name="Take out berths").click()
    expect(screen.notice).to_contain_text("It is back on the shelf.")


def test_the_library_looks_right(server: Served, tab: Tab) -> None:
    page, long = (
        tab(width=400, dark=True),
        "a-very-long-file-name-that-nobody-would-choose-but-everybody-has-somewhere-final-version-2.md",
    )
    screen = Screen(page, server.url)
    page.goto(f"{server.url}library?view=add")
    page.locator("input[type=file]").set_input_files(
        upload((long, HANDBOOK), ("noise.bin", bytes(range(256)) * 20))
    )
    expect(page.locator(".st-key-library-added")).to_contain_text("1 document added, 1 not taken")
    for part, seen in (
        ("Add", ".st-key-library-added"),
        ("Sources", ".source"),
        ("Search", ".empty"),
    ):
        page.get_by_role("radio", name=part).click()
        expect(page.get_by_role("radio", name=part)).to_be_checked()
        expect(page.locator(seen).first).to_be_visible()
        assert (screen.too_wide(), page.evaluate(PALE), page.evaluate(NAMELESS)) == ([], [], []), part
