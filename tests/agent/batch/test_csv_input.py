"""Tables of questions as people have them: dialects, codings, rows that cannot be, rows that are the same."""

from __future__ import annotations

import pytest

from agent.batch.csv_input import MOST_ROWS, SETTING_COLUMNS, read_sheet
from agent.batch.jobs import list_flows
from agent.engine.run_settings import settings_for_row
from agent.errors import UsageError
from agent.types import BatchRow, Settings

DEMO = Settings(world="demo")


def questions(text: str | bytes) -> list[str]:
    return [row.question for row in read_sheet(text if isinstance(text, bytes) else text.encode(), DEMO).rows]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_separators_and_codings(mark: str, coding: str) -> None:
    text = f'id{mark}Question{mark}note\r\n1{mark}"Wer führt Älvmora{mark} und seit wann?"{mark}ä\r\n\r\n2{mark}Who?{mark}\r\n'
    sheet = read_sheet(text.encode(coding), DEMO)
    assert [(row.n, row.question) for row in sheet.rows] == [
        (1, f"Wer führt Älvmora{mark} und seit wann?"),
        (3, "Who?"),
    ]
    assert sheet.columns == ["id", "Question", "note"] and sheet.rows[0].given == {"id": "1", "note": "ä"}


def test_what_windows_adds_to_latin_1() -> None:
    assert questions("question\nWho runs “Älv”?\n".encode("cp1252")) == ["Who runs “Älv”?"]


def test_one_column_needs_no_quotes_and_keeps_its_separators() -> None:
    assert questions('question\nWho, when; and where?\n"Two\nlines, here"\n') == [
        "Who, when; and where?",
        "Two\nlines, here",
    ]


def test_a_bad_row_is_told_by_its_number_and_the_others_stay() -> None:
    sheet = read_sheet(
        b"question,flow,max_steps,max_pages\nOne?,site,,\nTwo?,dance,,\nThree?,,x,\n,,,5\nFive?,,,,extra\nSix?,,0,\nSeven?,,7,3\n",
        DEMO,
    )
    assert [row.n for row in sheet.rows] == [1, 2, 3, 4, 5, 6, 7] and sheet.question_count == 1
    assert [row.n for row in sheet.rows if row.trouble] == [1, 2, 3, 4, 5, 6]
    told = " ".join(sheet.remarks)
    wanted = ["Row 1 cannot be asked: name at least one page", "Row 2", "dance", "Row 3"]
    wanted += ["“x” cannot be max_steps", "Row 5", "5 cells"]
    assert [words for words in wanted if words not in told] == []
    assert sheet.rows[-1].own == {"max_steps": 7, "max_pages": 3}


def test_settings_of_a_row() -> None:
    table = b"question;Allowed domains;start_urls;flow\nWho?;a.example, b.example;https://a.example/x;SITE\n"
    sheet = read_sheet(table, DEMO)
    chosen = settings_for_row(sheet.rows[0], DEMO)
    assert (chosen.flow, chosen.world, chosen.mode) == ("site", "demo", "auto")
    assert chosen.allowed_domains == ["a.example", "b.example"]
    assert chosen.start_urls == ["https://a.example/x"]
    assert sheet.settings == ["Allowed domains", "start_urls", "flow"]


def test_sources_of_a_row_are_checked_like_any_others() -> None:
    table = b"question,Blocked domains,since,language\nWho?,x.example,2024-01-01,sv\nWho?,x.example,soon,\nWho?,,,klingon\n"
    sheet = read_sheet(table, DEMO.model_copy(update={"at_cap": "ask", "until": "conflict"}))
    chosen = settings_for_row(sheet.rows[0], DEMO.model_copy(update={"at_cap": "ask", "until": "conflict"}))
    assert (chosen.blocked_domains, chosen.since, chosen.language) == (["x.example"], "2024-01-01", "sv")
    assert (chosen.at_cap, chosen.until) == ("report", "review"), "nobody is there to be asked"
    assert "Row 2 cannot be asked: “soon” is not a day" in sheet.remarks[0] and "Row 3" in sheet.remarks[1]


def test_whether_undated_pages_count_is_a_setting_of_a_row() -> None:
    asked = DEMO.model_copy(update={"dated_only": True})
    sheet = read_sheet(b"question,Dated only\nWho?,Yes\nWho?,perhaps\nWhich?,no\nHow?,\n", asked)
    kept = [settings_for_row(row, asked).dated_only for row in sheet.rows if not row.trouble]
    assert kept == [True, False, True] and sheet.settings == ["Dated only"]
    told = "Row 2 cannot be asked: “perhaps” cannot be dated_only: Input should be a valid boolean"
    assert told in sheet.remarks[0]


def test_the_same_question_is_asked_once() -> None:
    sheet = read_sheet(b"question,max_steps\nWho  is it?,\nwho is it?,\nWho is it?,5\n", DEMO)
    assert [row.same_as for row in sheet.rows] == [0, 1, 0] and sheet.question_count == 2
    assert "Row 2 repeats row 1" in sheet.remarks[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "no column"),
        (b"title,name\na,b\n", "no column is called"),
        (b"question\n", "no question below"),
        (b'question,a\n"opened,b\nc,d\n', "row 1 and never closed"),
        (b"PK\x03\x04\0\0", "not a text file"),
        (b"question\n" + b"x" * 4001, "4,001 characters"),
        (b"question\n" + b"y" * 200_000, "line 2 cannot be read: field larger"),
        (b"question," + b"x" * 140_000 + b"\nWhy?,b", "line 1 cannot be read: field larger"),
        (b'question,a\n"W"hy?,b\nWho?,' + b"x" * 140_000, "line 3 cannot be read: field larger"),
        (b"question\n" + b"q?\n" * (MOST_ROWS + 1), "more than 1,000 rows"),
        (b"x" * 5_000_001, "5 MB are the most"),
    ],
)
def test_what_cannot_be_is_said(data: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_sheet(data, DEMO)


def test_names_of_columns_are_made_unique() -> None:
    sheet = read_sheet(b"question,a,a,\nq?,1,2,3\n", DEMO)
    assert sheet.columns == ["question", "a", "a (3)", "column 4"] and list(sheet.rows[0].given.values()) == [
        "1",
        "2",
        "3",
    ]


def test_every_setting_of_a_row_is_a_setting() -> None:
    assert set(SETTING_COLUMNS) <= set(Settings.model_fields)


def test_a_site_row_keeps_to_the_hosts_of_its_start_pages() -> None:
    row = BatchRow(n=2, question="q", own={"flow": "site", "start_urls": ["https://a.example/x"]}, given={})
    assert settings_for_row(row, Settings()).allowed_domains == ["a.example"]
    assert list_flows([row], Settings()) == {"site"}
