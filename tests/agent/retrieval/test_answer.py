"""The answer that passages give without a model: lead, passages, parts and refusals, on invented pages."""

from __future__ import annotations

import pytest

from agent.retrieval.answer import (
    MAX_LEAD_WORDS,
    MAX_PASSAGES,
    WORDS_BELOW,
    find_answer,
    find_best_lines,
)
from agent.retrieval.scorer import CollectionCounts, CountedPassages
from agent.types import Passage
from agent.types.web import PassageKind


def make_passage(
    n: int,
    text: str,
    *,
    heading: str = "",
    kind: PassageKind = "prose",
    label: str = "",
    title: str = "Kilns",
) -> Passage:
    return Passage(
        id=f"p{n}:0",
        page_id=f"p{n}",
        url=f"https://kilns.example/{n}",
        title=title,
        heading=heading,
        kind=kind,
        label=label,
        text=text,
        start=0,
        end=len(text),
    )


KILNS = [
    make_passage(
        1,
        "FlueTimeout\nSeconds the flue stays open after firing. The default is 90.",
        heading="Directives",
        kind="definition",
        label="FlueTimeout",
    ),
    make_passage(
        2,
        "-q\n--quiet\nSay nothing while the kiln heats up.",
        heading="Options of fire",
        kind="definition",
        label="-q\n--quiet",
    ),
    make_passage(
        3,
        "To unload a shelf:\nLet the kiln cool down to 60 degrees.\nLift the shelf with both hooks.",
        heading="Unload a shelf",
        kind="list",
        label="To unload a shelf:",
    ),
    make_passage(4, "A bisque is a first firing without glaze. Potters like it plain.", heading="Words"),
    make_passage(
        5,
        "A gas kiln burns a flame, whereas an electric kiln glows without one. Both need a flue.",
        heading="Kinds of kilns",
    ),
    make_passage(
        6,
        "Cone | Degrees | Use\n04 | 1060 | bisque firing\n6 | 1222 | stoneware",
        heading="Cones",
        kind="rows",
        label="Cone | Degrees | Use",
    ),
    make_passage(
        7, "The workshop was founded by Ada Quill in 1907. It closes on Mondays.", heading="History"
    ),
    make_passage(8, "Flues must be swept because soot catches fire. Sweep them in May.", heading="Care"),
]


def lead(question: str, passages: list[Passage] = KILNS) -> str:
    found = find_answer(question, passages).parts[0].lead
    return found.statement if found else ""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the default value of FlueTimeout?", "FlueTimeout — The default is 90."),
        (
            "Which option says nothing while the kiln heats up?",
            "-q --quiet — Say nothing while the kiln heats up.",
        ),
        ("What is a bisque?", "A bisque is a first firing without glaze."),
        (
            "What is the difference between a gas kiln and an electric kiln?",
            "A gas kiln burns a flame, whereas an electric kiln glows without one.",
        ),
        ("When was the workshop founded?", "The workshop was founded by Ada Quill in 1907."),
        ("Why must flues be swept?", "Flues must be swept because soot catches fire."),
        (
            "What does cone 04 in the use of bisque firing mean?",
            "Cone: 04; Degrees: 1060; Use: bisque firing",
        ),
    ],
)
def test_the_lead_has_the_shape_asked_for_and_its_subject(question: str, expected: str) -> None:
    assert lead(question) == expected


def test_a_how_to_leads_with_the_steps_under_their_introduction() -> None:
    assert lead("How do I unload a shelf?").startswith("To unload a shelf: Let the kiln cool down")


@pytest.mark.parametrize(
    ("question", "text", "others"),
    [
        (
            "Was ist ein Schrühbrand?",
            "Ein Schrühbrand ist der erste Brand ohne Glasur.",
            "Der Ofen steht im Hof.",
        ),
        (
            "Qu'est-ce qu'un biscuit ?",
            "Un biscuit est une première cuisson sans émail.",
            "Le four est dehors.",
        ),
        ("¿Qué es un bizcocho?", "Un bizcocho es una primera cocción sin esmalte.", "El horno está fuera."),
        (
            "Vad är en skröjbränning?",
            "En skröjbränning är en första bränning utan glasyr.",
            "Ugnen står ute.",
        ),
        ("什么是素烧？", "素烧是第一次没有釉的烧制。", "窑在院子里。"),
        ("ما هو البسكويت؟", "البسكويت هو الحرق الأول بدون طلاء.", "الفرن في الفناء."),
    ],
)
def test_definitions_lead_in_other_languages(question: str, text: str, others: str) -> None:
    assert lead(question, [make_passage(1, others), make_passage(2, text)]) == text


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What does the --glow-blue option do?", ("--glow-blue",)),
        ("What is the default value of max_flue_threads?", ("max_flue_threads",)),
        ("What does E77 mean?", ("e77",)),
        ("Can I pay for the kiln with Zorbcoin?", ("Zorbcoin",)),
    ],
)
def test_a_code_option_or_name_that_stands_nowhere_is_told_and_not_answered(
    question: str, missing: tuple[str, ...]
) -> None:
    part = find_answer(question, KILNS).parts[0]
    assert part.lead is None and part.missing == missing


def test_a_question_of_another_subject_is_refused_without_naming_a_word() -> None:
    found = find_answer("Which football team won the championship?", KILNS)
    assert found.is_refusal and found.parts[0].missing == ()


def test_another_form_of_a_word_or_another_verb_is_no_reason_to_refuse() -> None:
    assert lead("When did someone found the workshops?") == "The workshop was founded by Ada Quill in 1907."


def test_a_verb_beside_a_code_is_no_reason_to_refuse() -> None:
    codes = [
        make_passage(1, "The flue is blocked. Sweep it and fire again.", heading="F07: no draught"),
        make_passage(2, "A door stands open. Close every door.", heading="F09: cold shelf"),
        *KILNS,
    ]
    counts = CollectionCounts(20, {"failur": 6, "f07": 1})
    part = find_answer("How do I repair failure F07?", codes, counts=counts).parts[0]
    assert part.lead and part.lead.heading == "F07: no draught"


def test_of_an_answer_together_with_an_earlier_question_only_what_is_asked_now_is_kept() -> None:
    now = "What is the default of FlueTimeout?"
    found = find_answer(f"What does --quiet do? {now}", KILNS)
    assert [part.question for part in found.parts] == ["What does --quiet do?", now]
    assert found.keep_parts_of(now).parts == found.parts[1:]
    assert len(find_answer(f"{now} {now}", KILNS).keep_parts_of(now).parts) == 1  # asked twice
    assert found.keep_parts_of("another wording") == found


def test_parts_of_a_compound_question_have_leads_of_their_own_or_none() -> None:
    first, second = find_answer("When was the workshop founded, and who won the football cup?", KILNS).parts
    assert first.lead and "1907" in first.lead.statement
    assert second.lead is None


def test_a_part_that_refers_back_is_about_the_first_one() -> None:
    parts = find_answer("What is a bisque, and why do potters like it?", KILNS).parts
    assert [part.lead.page_id for part in parts if part.lead] == ["p4", "p4"]


def test_quotes_are_verbatim_stretches_and_lengths_are_kept() -> None:
    long = make_passage(
        9, " ".join(f"Kiln rule {n} says that ash must be removed by hand." for n in range(40))
    )
    texts = {passage.id: passage.text for passage in [*KILNS, long]}
    for question in ("Which kiln rule says that ash must be removed?", "How do I unload a shelf?"):
        part = find_answer(question, [*KILNS, long]).parts[0]
        assert part.lead and len(part.lead.statement.split()) <= MAX_LEAD_WORDS
        assert len(part.passages) <= MAX_PASSAGES
        assert sum(len(one.statement.split()) for one in part.passages) <= WORDS_BELOW
        for quote in (part.lead, *part.passages, *part.others):
            assert all(stretch in texts[quote.passage_id] for stretch in quote.quote.split(" … "))


def test_a_question_on_a_page_is_never_the_lead() -> None:
    asks = make_passage(9, "Does the kiln work with goats? Nobody tried that so far.")
    assert not lead("Does the kiln work with goats?", [asks, *KILNS]).endswith("?")


@pytest.mark.parametrize("bare", ["Lumen Kilns", "The kiln shop", "The kiln shop!", "Who is Lumen Kilns?"])
def test_a_bare_name_or_title_is_no_line_of_an_answer(bare: str) -> None:
    passages = [
        make_passage(1, bare, title="Contact"),
        make_passage(2, "The kiln shop sells what Lumen Kilns makes.", title="The kiln shop"),
    ]
    lead = find_answer("Who owns Lumen Kilns?", passages, counts=CollectionCounts(0, {})).parts[0].lead
    assert lead and lead.statement == "The kiln shop sells what Lumen Kilns makes."
    assert bare not in [line.statement for line in find_best_lines("Who owns Lumen Kilns?", passages, 5)]


def test_a_line_with_a_name_that_the_question_lacks_is_kept_though_it_is_no_sentence() -> None:
    passages = [make_passage(1, "Owner of Lumen Kilns – Ada Quill", title="Contact")]
    shown = [line.statement for line in find_best_lines("Who is the owner of Lumen Kilns?", passages, 5)]
    assert shown == ["Owner of Lumen Kilns – Ada Quill"]


def test_of_two_numbers_the_one_of_what_is_counted_leads() -> None:
    text = "Lumen Kilns employs 31 people. Nine of them work part-time in the shop."
    passages = [make_passage(1, text, title="The people at the pottery")]
    lead = find_answer("How many people work at the pottery?", passages, counts=CollectionCounts(0, {}))
    assert lead.parts[0].lead and lead.parts[0].lead.statement == "Lumen Kilns employs 31 people."


KILN_TABLE = make_passage(
    1,
    "Big Ada | 40 | gas\nLittle Ada | 12 | wood\nOld Bert | 25 | wood\nNew Bert | 30 | power\nRaku | 6 | gas",
    kind="rows",
    label="Kiln | Shelves | Fuel",
    title="Our kilns",
)


def test_rows_that_a_question_does_not_tell_apart_are_shown_in_their_order() -> None:
    part = find_answer("How many shelves does each kiln have?", [KILN_TABLE]).parts[0]
    shown = [part.lead, *part.passages]
    assert [line.quote for line in shown if line] == KILN_TABLE.text.split("\n")
    assert part.passages[0].statement == "Kiln: Little Ada; Shelves: 12; Fuel: wood"
    assert len(find_best_lines("How many shelves does each kiln have?", [KILN_TABLE], 2)) == 5


def test_of_several_figures_the_one_that_the_question_names_leads() -> None:
    rows = make_passage(1, "Height | 180 cm\nPrice | 900 kr\nWeight | 310 kg", kind="rows", title="Big Ada")
    part = find_answer("What is the price of Big Ada?", [rows]).parts[0]
    assert part.lead and part.lead.quote == "Price | 900 kr"
    prose = make_passage(1, "It is warm in an hour. It costs 900 kr.", title="Big Ada")
    part = find_answer("What is the price of Big Ada?", [prose]).parts[0]
    assert part.lead and part.lead.quote == "It costs 900 kr.", "any figure, where none is named so"


def test_a_row_that_a_question_names_leads_alone() -> None:
    part = find_answer("How many shelves does the kiln Old Bert have?", [KILN_TABLE]).parts[0]
    assert part.lead and part.lead.quote == "Old Bert | 25 | wood" and len(part.passages) <= MAX_PASSAGES


def test_words_are_weighed_over_the_collection_where_its_counts_are_known() -> None:
    passages = [make_passage(n, f"The kiln of bench {n} is warm.") for n in range(5)]
    counts = CollectionCounts(5000, {"kiln": 4000, "bench": 2500, "glaze": 1, "warm": 2500})
    asked = "Which glaze has the warm kiln bench?"
    assert not find_answer(asked, CountedPassages(passages, counts)).parts[0].lead
    assert (
        find_answer(
            asked, passages, counts=CollectionCounts(5000, {**counts.document_frequencies, "glaze": 4999})
        )
        .parts[0]
        .lead
    )


def test_the_best_lines_are_found_without_a_refusal() -> None:
    lines = find_best_lines("Who founded the football workshop?", KILNS, 3)
    assert lines[0].quote == "The workshop was founded by Ada Quill in 1907." and len(lines) <= 3
    assert find_best_lines("?", [], 3) == []


GLAZES = [
    make_passage(11, "When a raku glaze is fired, the kiln is opened at 980 degrees.", heading="Firing"),
    make_passage(12, "MIX RAKU GLAZE is an order of the kiln's own language.", heading="Orders"),
    make_passage(13, "Mixing takes a raku glaze, a bucket and water.", heading="Mixing raku glaze"),
    make_passage(
        14,
        "Raku glaze (material)\nA low-fire coating that crackles when it cools fast.",
        heading="Glossary",
        kind="definition",
        label="Raku glaze (material)",
    ),
]


def test_what_is_said_of_a_thing_is_not_what_defines_it() -> None:
    assert lead("What is a raku glaze?", GLAZES).startswith("Raku glaze (material) — A low-fire coating")
    plain = make_passage(15, "A raku glaze is a low-fire coating.", heading="Materials")
    assert lead("What is a raku glaze?", [*GLAZES[:3], plain]) == "A raku glaze is a low-fire coating."


def test_a_quoted_letter_of_the_question_is_told_from_its_other_case() -> None:
    header = "Mark | Clay"
    rows = make_passage(
        16, "'k' | red clay\n'K' | white clay", heading="Marks of clays", kind="rows", label=header
    )
    assert "white clay" in lead("What does the clay mark 'K' stand for?", [rows])
    assert "red clay" in lead("What does the clay mark 'k' stand for?", [rows])


def test_a_question_of_several_pages_shows_the_links_of_its_chain() -> None:
    chain = [
        make_passage(20, "The Skerry bowl was fired in the Tolvan kiln.", title="Skerry bowl"),
        make_passage(21, "The Skerry bowl is kept in a glass case in the hall.", title="Skerry bowl"),
        make_passage(22, "The Skerry bowl is shown in a case on holidays too.", title="Skerry bowl"),
        make_passage(23, "Asta Berg founded the works with two friends.", title="Works"),
    ]
    [part] = find_answer("Who founded the kiln that fired the Skerry bowl?", chain).parts
    assert part.lead and "fired in the Tolvan kiln" in part.lead.statement
    assert part.passages[0].statement == "Asta Berg founded the works with two friends."


def test_a_line_leads_that_answers_on_the_page_the_best_line_names() -> None:
    pages = [
        make_passage(24, "The Skerry bowl was fired in the Tolvan kiln.", title="Skerry bowl"),
        make_passage(
            25, "Tiles cool in the yard. It was lit by Asta Berg.", title="Tolvan kiln - Kiln atlas"
        ),
        make_passage(26, "Ada Quill owns a bowl.", title="Bowls"),
    ]
    [part] = find_answer("Who lit the kiln that fired the Skerry bowl?", pages).parts
    assert part.lead and part.lead.statement == "It was lit by Asta Berg."
    assert part.passages[0].statement == "The Skerry bowl was fired in the Tolvan kiln."


def test_a_name_whose_stem_is_spelled_otherwise_is_found() -> None:
    [part] = find_answer("When was Skerry built?", [make_passage(30, "Skerry was built in 1904.")]).parts
    assert part.lead and not part.missing
