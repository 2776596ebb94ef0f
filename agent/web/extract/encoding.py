"""Bytes to text: byte-order mark, what the server says, what the page says, what the bytes look like. Knows
no markup beyond the place where a page names its encoding."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

_META = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]+)""", re.IGNORECASE
)
_HEADER = re.compile(r"""charset\s*=\s*["']?([\w:.-]+)""", re.IGNORECASE)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_WHATWG_ENCODINGS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
    "big5": "big5hkscs",
}
"""Labels that the web uses for a larger set than their names say (the WHATWG's encoding standard)."""
_SAMPLE = 64 * 1024


def decode(raw: bytes, content_type: str = "") -> str:
    """The text of a body. Never fails: what can't be decoded becomes U+FFFD. NULs are dropped."""
    for mark, name in _BOMS:
        if raw.startswith(mark):
            return _drop_nuls(raw.decode(name, errors="replace"))
    declared = [
        label
        for label in (_find_codec(_HEADER.search(content_type)), _find_codec(_META.search(raw[:4096])))
        if label
    ]
    if utf8 := _decode_utf8(raw, declared):
        return _drop_nuls(utf8)
    for label in declared:
        try:
            return _drop_nuls(raw.decode(label))
        except UnicodeDecodeError:
            continue
    guessed = _guess_encoding(raw) if not declared else declared[0]
    return _drop_nuls(raw.decode(guessed, errors="replace"))


def _decode_utf8(raw: bytes, declared: list[str]) -> str:
    """The body as UTF-8 when it is that: well-formed UTF-8 beyond ASCII is hardly ever anything else,
    whatever a server says."""
    if any(codecs.lookup(label).name.startswith(("iso2022", "utf-16", "utf-7", "hz")) for label in declared):
        return ""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _find_codec(match: re.Match[bytes] | re.Match[str] | None) -> str:
    if not match:
        return ""
    label = match.group(1)
    label = label.decode("ascii") if isinstance(label, bytes) else label
    try:
        known = codecs.lookup(label)
    except LookupError:
        return ""
    if not getattr(known, "_is_text_encoding", True) or known.name == "utf-7":
        return ""
    return _WHATWG_ENCODINGS.get(known.name, known.name)


def _guess_encoding(raw: bytes) -> str:
    try:
        raw[:_SAMPLE].rsplit(b" ", 1)[0].decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        best = from_bytes(raw[:_SAMPLE]).best()
        return best.encoding if best else "cp1252"


def _drop_nuls(text: str) -> str:
    return text.replace("\x00", "")
