"""What a model is shown of a page."""

from __future__ import annotations

from agent.retrieval.passages import split_passages
from agent.retrieval.shown_passages import add_spans, choose_passages, is_covered, join_adjacent
from agent.types import Outcome, Page, Table

SHORT = "Ilse Bryn keeps the ferry. It was built in Vask in 1931."
FILLER = "The weather over the sound was mild and nothing of note was seen by anybody that week. " * 5


def make_page(text: str, **more: object) -> Page:
    url = "https://sound.example/"
    return Page(url=url, final_url=url, outcome=Outcome.OK, title="The sound", text=text, **more)  # type: ignore[arg-type]


def make_long_page(*places: tuple[int, str], paragraphs: int = 60) -> Page:
    """A long page with these paragraphs at these places."""
    parts = [f"{FILLER}Entry {n}." for n in range(paragraphs)]
    for n, text in places:
        parts[n] = text
    return make_page("\n\n".join(parts))


def read(page: Page, *queries: str, tokens: int = 400, shown: list[tuple[int, int]] | None = None):
    return choose_passages(queries, {"p": page}, tokens=tokens, shown={"p": shown or []})["p"]


def test_a_short_page_is_shown_whole():
    reading = read(make_page(SHORT), "Who sells tickets?")
    assert "Ilse Bryn" in reading[0].text and "built in Vask" in reading[-1].text


def test_of_a_long_page_what_the_question_asks_is_shown_within_the_tokens():
    page = make_long_page((41, "The ferry Marna was launched at the Quill yard in 1931."))
    reading = read(page, "When was the ferry Marna launched?", tokens=300)
    assert any("launched at the Quill yard" in passage.text for passage in reading)
    assert sum(len(passage.text) for passage in reading) <= 300 * 4


def test_the_search_that_led_there_counts_beside_the_question():
    page = make_long_page(
        (20, "Quill yard accounts: 40 crowns."), (50, "The ferry Marna was launched in 1931.")
    )
    texts = " ".join(p.text for p in read(page, "ferry Marna launched", "Quill yard accounts"))
    assert "40 crowns" in texts
    assert "launched in 1931" in texts


def test_what_was_shown_before_is_not_shown_again_and_the_rest_is():
    page = make_long_page((5, "The ferry Marna is green."), (50, "The ferry Marna was launched in 1931."))
    seen = list[tuple[int, int]]()
    for _ in range(200):
        reading = read(page, "ferry Marna", shown=seen)
        assert not any(is_covered(passage.start, passage.end, seen) for passage in reading)
        seen = add_spans(seen, [(passage.start, passage.end) for passage in reading])
    assert reading == [], "all was shown"
    assert "Entry 59." in page.text[seen[-1][0] : seen[-1][1]]


def test_what_was_shown_for_another_question_comes_after_what_was_never_shown():
    launched = "The ferry Marna was launched in 1931."
    page = make_long_page((5, launched), (50, "The ferry Marna is green."), paragraphs=60)
    [first] = [p for p in split_passages(page, "p") if launched in p.text]
    before = {"p": [(first.start, first.end)]}

    def show(shown: list[tuple[int, int]]) -> str:
        given = {"tokens": 400, "shown": {"p": shown}, "before": before}
        return " ".join(p.text for p in choose_passages(["ferry Marna launched"], {"p": page}, **given)["p"])

    assert launched not in show([(0, 0)]) and "is green" in show([(0, 0)])
    rest = [(0, first.start), (first.end, len(page.text))]
    assert launched in show(rest), "nothing else is left"


def test_the_other_rows_of_a_table_come_with_the_best_one():
    head, rows = "ship | launched", [f"Marna {n} | {1900 + n}" for n in range(20)]
    table = "\n".join([head, *rows])
    filler = "\n\n".join(f"{FILLER}Entry {n}." for n in range(30))
    text = f"{filler}\n\n{table}\n\n{filler}"
    start = text.index(head)
    cells = [line.split(" | ") for line in table.split("\n")]
    page = make_page(text, tables=[Table(start=start, end=start + len(table), rows=cells)])
    shown = " ".join(passage.text for passage in read(page, "When was Marna 3 launched?"))
    assert all(row in shown for row in rows)


def test_the_tokens_that_a_short_page_leaves_go_to_the_long_one():
    long = make_long_page(*((n, f"The ferry Marna, note {n}: {FILLER[:300]}") for n in range(10, 30)))
    alone = choose_passages(["ferry Marna"], {"long": long}, tokens=400)["long"]
    both = choose_passages(["ferry Marna"], {"long": long, "short": make_page(SHORT)}, tokens=400)
    assert both["short"][-1].end == len(SHORT)
    assert len(both["long"]) > len(alone)
    assert list(both) == ["long", "short"]


def test_the_best_passage_for_the_part_that_was_asked_for_comes_first_however_many_others_are_open():
    page = make_long_page(
        (
            20,
            "Brine is for the ferry Marna, the crew of Marna, the keel of Marna and the owner of Marna. " * 5,
        ),
        (50, f"A lamp is lit. {FILLER}"),
    )
    others = ("crew of the ferry Marna", "keel of the ferry Marna", "owner of the ferry Marna")
    [first] = read(page, "Which lamp is lit?", *others, tokens=140)
    assert "lamp is lit" in first.text


def test_passages_that_follow_one_another_are_shown_as_one_with_the_text_between_them():
    page = make_long_page(paragraphs=4)
    first, second, third, *_ = split_passages(page, "p")
    joined = join_adjacent([first, second, third.replace(heading="Elsewhere")], page.text)
    assert [(p.id, p.start, p.end) for p in joined] == [
        (first.id, first.start, second.end),
        (third.id, third.start, third.end),
    ]
    assert joined[0].text == page.text[first.start : second.end]
    apart = page.text[: second.start] + "Menu" + page.text[second.start :]
    moved = second.replace(start=second.start + 4, end=second.end + 4)
    assert len(join_adjacent([first, moved], apart)) == 2


def test_each_page_of_a_round_shows_first_what_it_was_opened_for():
    kept = [
        (n, f"The crew of the ferry Marna, list {n}: the crew slept, the crew ate. " * 6) for n in range(9)
    ]
    page = make_long_page(*kept, (50, f"A lamp is lit. {FILLER}"))
    asked = ["crew of the ferry Marna", "keel of the ferry Marna", "Which lamp is lit?"]
    pages, first = {"a": page, "b": page}, {"a": asked[0], "b": asked[2]}
    shown = choose_passages(asked, pages, tokens=140, first=first)
    assert ["crew" in shown["a"][0].text, "lamp is lit" in shown["b"][0].text] == [True, True]
