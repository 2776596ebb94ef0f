"""Bytes to text the way browsers and reality do it."""

from __future__ import annotations

import pytest

from agent.web.extract.encoding import decode
from tests.tables import by_table

CZECH = "Mlékárna v Ostravě byla založena dvěma sestrami a prodávala máslo, sýr i šlehačku. " * 5
RUSSIAN = "Молочная была основана двумя сёстрами и продавала масло с тележки на рынке. " * 5
JAPANESE = "この酪農場は二人の姉妹によって設立され、荷車でバターを売っていました。" * 5


@pytest.mark.parametrize(
    ("raw", "content_type", "text"),
    [
        (CZECH.encode(), "", CZECH),
        (CZECH.encode(), "text/html; charset=iso-8859-1", CZECH),
        (b"\xef\xbb\xbf" + CZECH.encode(), "text/html; charset=latin-1", CZECH),
        (CZECH.encode("utf-16"), "", CZECH),
        (CZECH.encode("cp1250"), "text/html; charset=windows-1250", CZECH),
        (RUSSIAN.encode("koi8-r"), "text/html; charset=KOI8-R", RUSSIAN),
        (RUSSIAN.encode("cp1251"), "", RUSSIAN),
        (JAPANESE.encode("shift_jis"), "text/html; charset=Shift_JIS", JAPANESE),
        (JAPANESE.encode("euc_jp"), "text/html; charset=euc-jp", JAPANESE),
        (JAPANESE.encode("iso2022_jp"), "text/html; charset=iso-2022-jp", JAPANESE),
        (
            "\u201cquoted\u201d \u20ac5".encode("cp1252"),
            "text/html; charset=iso-8859-1",
            "\u201cquoted\u201d \u20ac5",
        ),
        (b"plain", "text/html; charset=no-such-thing", "plain"),
        (b"plain", "text/html; charset=base64", "plain"),
        (b"a\x00b", "", "ab"),
        (b"", "", ""),
    ],
)
def test_decoding(raw: bytes, content_type: str, text: str) -> None:
    assert decode(raw, content_type).strip() == text.strip()


@pytest.mark.parametrize(
    "meta",
    [
        '<meta charset="windows-1251">',
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
    ],
)
def test_a_page_can_name_its_encoding(meta: str) -> None:
    assert RUSSIAN.strip() in decode(meta.encode() + RUSSIAN.encode("cp1251"))


@by_table
def test_a_label_that_is_none_is_not_believed(decoy: str) -> None:
    page = f'{decoy}<meta charset="windows-1251">{RUSSIAN}'
    assert RUSSIAN.strip() in decode(page.encode("cp1251"))


def test_a_page_that_can_be_read_so_far_is_not_in_utf_16() -> None:
    assert "plain" in decode(b'<meta charset="utf-16">plain')


def test_nothing_fails() -> None:
    assert "\ufffd" in decode(b"caf\xe9 \xff\xfe\x81" * 3, "text/html; charset=utf-8")
    assert isinstance(decode(bytes(range(256)) * 4), str)


def test_a_cut_character_at_the_end_is_still_utf_8() -> None:
    assert decode(CZECH.encode() + "é".encode()[:1], "text/html; charset=utf-8").startswith(CZECH[:40])
    assert decode(CZECH.encode() + "é".encode()[:1]).startswith(CZECH[:40])


@pytest.mark.parametrize("label", ["idna", "punycode", "undefined", "unicode_escape", "utf-7", "zlib"])
def test_an_encoding_that_no_page_is_written_in_is_none(label: str) -> None:
    assert "caf" in decode(b"caf\xe9 \\x41", f"text/html; charset={label}")
    assert "\\x41" in decode(f"<meta charset={label}>".encode() + b"caf\xe9 \\x41")
