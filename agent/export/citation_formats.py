"""References as files for reference managers: CSL-JSON, RIS and BibTeX, all UTF-8.

In RIS a tag is a line, so no value may hold a line end. BibTeX, biber and Zotero's importer read the same
title back: `@online` with `urldate` is what BibLaTeX and Zotero take for a web page, `@article` for a paper
in a journal. Braces are escaped as Zotero does, each with its invisible counterpart, so that they balance."""

from __future__ import annotations

import json
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
    **{sign: rf"\{sign}" for sign in "#$%&_"},
}
_BRACES = re.compile(r"[{}\\]")
"""What a DOI, a verbatim field, cannot hold."""
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)")
"""Where TeX would make one sign of two."""


def render_csl(references: Iterable[Reference]) -> str:
    """A list of items: what citation processors and reference managers (Zotero, pandoc) read."""
    items = []
    for reference in references:
        dates = {"issued": reference.issued, "accessed": reference.accessed}
        kind = "article-journal" if reference.journal else "webpage" if reference.url else "document"
        item = {
            "id": reference.key,
            "type": kind,
            "title": reference.title,
            "container-title": reference.journal or reference.container,
            "author": [{"literal": name} for name in reference.authors],
            "DOI": reference.doi,
            "URL": reference.url,
            **{name: {"date-parts": [list(date)]} for name, date in dates.items() if date},
            "language": reference.language,
            "note": " ".join(reference.remarks),
        }
        items.append({name: value for name, value in item.items() if value})
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def render_ris(references: Iterable[Reference]) -> str:
    """The file, its lines ended as the format asks (CRLF). A date is "2026/11/21/", what is not known left
    empty."""
    lines: list[str] = []
    for reference in references:
        issued, accessed = (
            "/".join([*format_iso_date(date).split("-"), "", "", ""][:4]) if date else ""
            for date in (reference.issued, reference.accessed)
        )
        tags = [
            ("TY", "JOUR" if reference.journal else "ELEC" if reference.url else "GEN"),
            ("ID", reference.key),
            ("TI", reference.title),
            *(("AU", name) for name in reference.authors),
            ("T2", reference.journal or reference.container),
            ("DO", reference.doi),
            ("PY", str(reference.issued[0]) if reference.issued else ""),
            ("DA", issued),
            ("Y2", accessed),
            ("LA", reference.language),
            ("UR", reference.url),
            ("N1", reference.origin_note),
            ("N1", f"Licence: {reference.licence}" if reference.licence else ""),
            *(("N1", quote) for quote in reference.quotes),
        ]
        lines += [*(f"{tag}  - {value}" for tag, value in tags if value), "ER  - ", ""]
    return "".join(f"{line}\r\n" for line in lines)


def render_bibtex(references: Iterable[Reference]) -> str:
    """The file; "" without references."""
    entries = []
    for reference in references:
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
        entries.append(f"@{kind}{{{reference.key},\n{lines}}}\n")
    return "\n".join(entries)


def escape_tex(text: str) -> str:
    """A text as it stands between braces."""
    return "".join(_TEX_ESCAPES.get(sign, sign) for sign in _LIGATURE.sub("\0", text)).replace("\0", "{}")
