"""Bytes to text: byte-order mark, what the server says, what the page says, what the bytes look like.

Well-formed UTF-8 wins over any label: beyond ASCII it is hardly ever anything else, whatever a server says.
w3lib reads the labels as browsers do."""

from __future__ import annotations

import codecs

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

_SAMPLE_BYTES = 64 * 1024
_LOOKS_LIKE_UTF8 = ("iso2022", "utf-16", "hz")
"""Encodings whose bytes may be well-formed UTF-8 all the same."""


def decode(raw: bytes, content_type: str = "") -> str:
    """The text of a body. Never fails: what cannot be decoded becomes U+FFFD. NULs are dropped."""
    return _decode(raw, content_type).replace("\x00", "")


def _decode(raw: bytes, content_type: str) -> str:
    mark_encoding, mark = read_bom(raw)
    if mark_encoding and mark:
        return to_unicode(raw[len(mark) :], mark_encoding)
    labels = (http_content_type_encoding(content_type), html_body_declared_encoding(raw))
    declared = [
        label for label in labels if label and getattr(codecs.lookup(label), "_is_text_encoding", True)
    ]
    utf8 = [] if any(label.startswith(_LOOKS_LIKE_UTF8) for label in declared) else ["utf-8"]
    for label in [*utf8, *declared]:
        try:
            return raw.decode(label)
        except UnicodeDecodeError:
            continue
    return to_unicode(raw, declared[0] if declared else _guess(raw))


def _guess(raw: bytes) -> str:
    try:
        raw[:_SAMPLE_BYTES].rsplit(b" ", 1)[0].decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # imported here: few pages need it

        best = from_bytes(raw[:_SAMPLE_BYTES]).best()
        return best.encoding if best else "cp1252"
