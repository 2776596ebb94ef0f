"""Bytes to text: byte-order mark, what the server says, what the page says, what the bytes look like.

Well-formed UTF-8 wins over any label: beyond ASCII it is hardly ever anything else."""

from __future__ import annotations

import re

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

_SAMPLE_BYTES = 64 * 1024
_OF_THE_WEB = re.compile(
    r"utf-(?:8|16)(?:-[bl]e)?|ascii|cp\d{3,4}|iso8859-\d+|koi8-\w|mac-(?:roman|cyrillic)|gb\w+|big5\w*|hz|euc_\w+"
    r"|iso2022_\w+|shift_\w+|johab|tis-620"
)
"""The encodings of pages as Python calls them (encoding.spec.whatwg.org): each reads any bytes."""
_LOOKS_LIKE_UTF8 = ("iso2022", "utf-16", "hz")
"""Encodings whose bytes may be well-formed UTF-8 all the same."""


def decode(raw: bytes, content_type: str = "") -> str:
    """The text of a body. Never fails: what cannot be decoded becomes U+FFFD. NULs are dropped."""
    mark_encoding, mark = read_bom(raw)
    if mark_encoding and mark:
        return to_unicode(raw[len(mark) :], mark_encoding).replace("\x00", "")
    named = html_body_declared_encoding(raw) or ""
    # a page whose label could be read is not in UTF-16
    labels = (http_content_type_encoding(content_type), re.sub("^utf-16.*", "utf-8", named))
    declared = [label for label in labels if label and _OF_THE_WEB.fullmatch(label)]
    utf8 = [] if any(label.startswith(_LOOKS_LIKE_UTF8) for label in declared) else ["utf-8"]
    for label in [*utf8, *declared]:
        try:
            return raw.decode(label).replace("\x00", "")
        except UnicodeDecodeError:
            continue
    if not declared:
        try:
            raw[:_SAMPLE_BYTES].rsplit(b" ", 1)[0].decode("utf-8")
            declared = ["utf-8"]
        except UnicodeDecodeError:
            from charset_normalizer import from_bytes  # imported here: few pages need it

            best = from_bytes(raw[:_SAMPLE_BYTES]).best()
            declared = [best.encoding if best else "cp1252"]
    return to_unicode(raw, declared[0]).replace("\x00", "")
