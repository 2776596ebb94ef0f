"""References as BibTeX (UTF-8), written so that BibTeX, biber and Zotero's importer read the same title back.

`@online` with `urldate` is what BibLaTeX and Zotero take for a web page, `@article` for a paper in a journal.
Braces are escaped as Zotero does, each with its invisible counterpart, so that an entry's always balance."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.export.references import Reference, format_iso_date

_TEX_ESCAPES = {
    "\\": r"{\textbackslash}",
    "{": r"\{\vphantom{\}}",
    "}": r"\vphantom{\{}\}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    "|": r"{\textbar}",
    "<": r"{\textless}",
    ">": r"{\textgreater}",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
}
_BRACES = re.compile(r"[{}\\]")
"""What a DOI, a verbatim field, cannot hold."""
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)")
"""Where TeX would make one sign of two."""


def render_bibtex(references: Iterable[Reference]) -> str:
    """The file; "" without references."""
    return "\n".join(_render_entry(reference) for reference in references)


def _render_entry(reference: Reference) -> str:
    fields = {
        "title": escape_tex(reference.title),
        "author": " and ".join(f"{{{escape_tex(name)}}}" for name in reference.authors),
        "journal": escape_tex(reference.journal),
        "organization": "" if reference.journal else escape_tex(reference.container),
        "doi": _BRACES.sub("", reference.doi),
        "url": reference.url,
        "urldate": format_iso_date(reference.accessed),
        "date": format_iso_date(reference.issued),
        "year": str(reference.issued[0]) if reference.issued else "",
        "language": escape_tex(reference.language),
        "note": " ".join(map(escape_tex, reference.remarks)),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    kind = "article" if reference.journal else "online" if reference.url else "misc"
    return f"@{kind}{{{reference.key},\n{lines}}}\n"


def escape_tex(text: str) -> str:
    """A text as it stands between braces."""
    return "".join(_TEX_ESCAPES.get(sign, sign) for sign in _LIGATURE.sub("\0", text)).replace("\0", "{}")
