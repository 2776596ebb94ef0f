"""Bytes to text: byte-order mark, what the server says, what the page says, what the bytes look like.

Well-formed UTF-8 wins over any label: beyond ASCII it is hardly ever anything else, whatever a server says.
The page's own label is looked for as browsers do (HTML, 13.2.3.2, "prescan a byte stream"): a label inside a
comment, a script or another tag's attribute is none."""

from __future__ import annotations

import re

from w3lib.encoding import http_content_type_encoding, read_bom, resolve_encoding, to_unicode

_SAMPLE_BYTES = 64 * 1024
_HEAD_BYTES = 16 * 1024
"""Where a page may name its encoding: browsers look at 1024 bytes first, and obey a later label, too."""
_XML_LABEL = re.compile(rb"""\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']""")
_COMMENT = re.compile(rb"<!--(?:>|->|.*?-->)", re.DOTALL)
_TAG_START = re.compile(rb"</?([a-zA-Z][^\s/>]*)")
_OTHER_TAG = re.compile(rb"<[!/?][^>]*>")
_ATTRIBUTE = re.compile(
    rb"""[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)(?=[\s>]))|(?=[\s/>])(?!\s*=))"""
)
_CONTENT_LABEL = re.compile(rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"'][^\s;]*))""", re.IGNORECASE)
_OF_THE_WEB = re.compile(
    r"utf-(?:8|16)(?:-[bl]e)?|ascii|cp\d{3,4}|iso8859-\d+|koi8-\w|mac-(?:roman|cyrillic)|gb\w+|big5\w*|hz|euc_\w+"
    r"|iso2022_\w+|shift_\w+|johab|tis-620"
)
"""The encodings of pages as Python calls them (encoding.spec.whatwg.org): each reads any bytes."""
_LOOKS_LIKE_UTF8 = ("iso2022", "utf-16", "hz")
"""Encodings whose bytes may be well-formed UTF-8 all the same."""


def decode(raw: bytes, content_type: str = "") -> str:
    """The text of a body. Never fails: what cannot be decoded becomes U+FFFD. NULs are dropped."""
    return _decode(raw, content_type).replace("\x00", "")


def _decode(raw: bytes, content_type: str) -> str:
    mark_encoding, mark = read_bom(raw)
    if mark_encoding and mark:
        return to_unicode(raw[len(mark) :], mark_encoding)
    labels = (http_content_type_encoding(content_type), find_declared_encoding(raw))
    declared = [label for label in labels if label and _OF_THE_WEB.fullmatch(label)]
    utf8 = [] if any(label.startswith(_LOOKS_LIKE_UTF8) for label in declared) else ["utf-8"]
    for label in [*utf8, *declared]:
        try:
            return raw.decode(label)
        except UnicodeDecodeError:
            continue
    return to_unicode(raw, declared[0] if declared else _guess(raw))


def find_declared_encoding(raw: bytes) -> str:
    """The encoding that a page names in its first bytes, as Python calls it; "" for none. A page that can be
    read so far is not in UTF-16."""
    head, at = raw[:_HEAD_BYTES], 0
    if stated := _XML_LABEL.match(head):
        return _resolve(stated[1])
    while (at := head.find(b"<", at)) >= 0:
        if skipped := _COMMENT.match(head, at):
            at = skipped.end()
        elif tag := _TAG_START.match(head, at):
            attributes, at = _read_attributes(head, tag.end())
            if tag[0].lower() == b"<meta" and (label := _read_meta(attributes)):
                return label
        else:
            other = _OTHER_TAG.match(head, at)
            at = other.end() if other else at + 1
    return ""


def _read_attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of a tag and where it ends; none where the end is not to be seen."""
    found: dict[bytes, bytes] = {}
    while attribute := _ATTRIBUTE.match(head, at):
        value = next((group for group in attribute.groups()[1:] if group is not None), b"")
        found.setdefault(attribute[1].lower(), value.lower())
        at = attribute.end()
    end = re.compile(rb"[\s/]*>").match(head, at)
    return (found, end.end()) if end else ({}, len(head))


def _read_meta(attributes: dict[bytes, bytes]) -> str:
    if b"charset" in attributes:
        return _resolve(attributes[b"charset"])
    named = _CONTENT_LABEL.search(attributes.get(b"content", b""))
    if attributes.get(b"http-equiv") != b"content-type" or named is None:
        return ""
    return _resolve(next(filter(None, named.groups()), b""))


def _resolve(label: bytes) -> str:
    is_name = re.fullmatch(rb"[\w.:()-]{1,40}", label.strip())
    name = resolve_encoding(label.strip().decode("latin-1")) or "" if is_name else ""
    return "utf-8" if name.startswith("utf-16") else name


def _guess(raw: bytes) -> str:
    try:
        raw[:_SAMPLE_BYTES].rsplit(b" ", 1)[0].decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # imported here: few pages need it

        best = from_bytes(raw[:_SAMPLE_BYTES]).best()
        return best.encoding if best else "cp1252"
