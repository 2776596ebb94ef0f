"""References as RIS (UTF-8): one tag a line, so no value may hold a line end."""

from __future__ import annotations

from collections.abc import Iterable

from agent.export.references import Reference


def render_ris(references: Iterable[Reference]) -> str:
    """The file, its lines ended as the format asks (CRLF)."""
    lines: list[str] = []
    for reference in references:
        lines += [f"{tag}  - {value}" for tag, value in _tags(reference) if value]
        lines += ["ER  - ", ""]
    return "".join(f"{line}\r\n" for line in lines)


def _tags(reference: Reference) -> list[tuple[str, str]]:
    return [
        ("TY", "JOUR" if reference.journal else "ELEC" if reference.url else "GEN"),
        ("ID", reference.key),
        ("TI", reference.title),
        *(("AU", name) for name in reference.authors),
        ("T2", reference.journal or reference.container),
        ("DO", reference.doi),
        ("PY", str(reference.issued[0]) if reference.issued else ""),
        ("DA", _format_date(reference.issued)),
        ("Y2", _format_date(reference.accessed)),
        ("LA", reference.language),
        ("UR", reference.url),
        ("N1", reference.origin_note),
        ("N1", f"Licence: {reference.licence}" if reference.licence else ""),
        *(("N1", quote) for quote in reference.quotes),
    ]


def _format_date(date: tuple[int, ...]) -> str:
    """A date as the format writes it: "2026/11/21/", what is not known left empty."""
    if not date:
        return ""
    parts = [f"{date[0]:04d}", *(f"{part:02d}" for part in date[1:]), "", "", ""]
    return "/".join(parts[:4])
