"""References as BibTeX (UTF-8), written so that BibTeX, biber and Zotero's importer read the same title back.

`@online` with `urldate` is what BibLaTeX and Zotero take for a web page. Braces are escaped the way Zotero writes them, each with
its invisible counterpart, so that an entry's braces always balance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.export.references import Reference, iso

_TEX = {
    "\\": r"{\textbackslash}", "{": r"\{\vphantom{\}}", "}": r"\vphantom{\{}\}", "~": r"{\textasciitilde}", "^": r"{\textasciicircum}",
    "|": r"{\textbar}", "<": r"{\textless}", ">": r"{\textgreater}", "#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_",
}  # fmt: skip
_JOINED = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)")
"""Where TeX would make one sign of two."""


def bibtex(references: Iterable[Reference]) -> str:
    """The file; "" without references."""
    return "\n".join(_entry(reference) for reference in references)


def _entry(reference: Reference) -> str:
    fields = {
        "title": tex(reference.title),
        "author": f"{{{tex(reference.author)}}}" if reference.author else "",
        "organization": tex(reference.container),
        "url": reference.url,
        "urldate": iso(reference.accessed),
        "date": iso(reference.issued),
        "year": str(reference.issued[0]) if reference.issued else "",
        "language": tex(reference.language),
        "note": " ".join([*([f"({tex(reference.given)})"] if reference.given else []), *(f"“{tex(quote)}”" for quote in reference.quotes)]),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{'online' if reference.url else 'misc'}{{{reference.key},\n{lines}}}\n"


def tex(text: str) -> str:
    """A text as it stands between braces."""
    return "".join(_TEX.get(sign, sign) for sign in _JOINED.sub("\0", text)).replace("\0", "{}")
