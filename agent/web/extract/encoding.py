"""Bytes to text: byte-order mark, what the server says, what the page says, what the bytes look like.

Well-formed UTF-8 wins over any label: beyond ASCII it is hardly ever anything else, whatever a server says.
The page's own label is read by the HTML parser: one inside a comment, a script or another tag's attribute is
none."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser
from w3lib.encoding import http_content_type_encoding, read_bom, resolve_encoding, to_unicode

_SAMPLE_BYTES = 64 * 1024
_HEAD_BYTES = 16 * 1024
"""Where a page may name its encoding: browsers look at 1024 bytes first, and obey a later label, too."""
_XML_LABEL = re.compile(r"""\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']""")
_OF_THE_WEB = re.compile(
    r"utf-(?:8|16)(?:-[bl]e)?|ascii|cp\d{3,4}|iso8859-\d+|koi8-\w|mac-(?:roman|cyrillic)|gb\w+|big5\w*|hz|euc_\w+"
    r"|iso2022_\w+|shift_\w+|johab|tis-620"
)
"""The encodings of pages as Python calls them (encoding.spec.whatwg.org): each reads any bytes."""


def decode(raw: bytes, content_type: str = "") -> str:
    """The text of a body. Never fails: what cannot be decoded becomes U+FFFD. NULs are dropped."""
    mark_encoding, mark = read_bom(raw)
    if mark_encoding and mark:
        return to_unicode(raw[len(mark) :], mark_encoding).replace("\x00", "")
    labels = (http_content_type_encoding(content_type), find_declared_encoding(raw))
    declared = [label for label in labels if label and _OF_THE_WEB.fullmatch(label)]
    # these encodings' bytes may be well-formed UTF-8 all the same
    utf8 = [] if any(label.startswith(("iso2022", "utf-16", "hz")) for label in declared) else ["utf-8"]
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


def find_declared_encoding(raw: bytes) -> str:
    """The encoding that a page names in its first bytes, as Python calls it; "" for none. A page that can be
    read so far is not in UTF-16."""
    head = raw[:_HEAD_BYTES].decode("latin-1")
    labels = [found[1] for found in [_XML_LABEL.match(head)] if found]
    for meta in LexborHTMLParser(head).css("meta") if "charset" in head.lower() and not labels else ():
        found = {name.lower(): (value or "").lower() for name, value in meta.attributes.items()}
        if "charset" in found:
            labels.append(found["charset"])
        elif found.get("http-equiv") == "content-type":
            labels.append(http_content_type_encoding(found.get("content", "")) or "")
    for label in map(str.strip, labels):
        name = resolve_encoding(label) if re.fullmatch(r"[\w.:()-]{1,40}", label) else ""
        if name:
            return "utf-8" if name.startswith("utf-16") else name
    return ""
