"""References as CSL-JSON: what citation processors and reference managers (Zotero, pandoc) read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agent.export.references import Reference


def render_csl(references: Iterable[Reference]) -> str:
    """The file: a list of items."""
    return json.dumps([_item(reference) for reference in references], ensure_ascii=False, indent=1) + "\n"


def _item(reference: Reference) -> dict[str, Any]:
    item = {
        "id": reference.key,
        "type": "article-journal" if reference.journal else "webpage" if reference.url else "document",
        "title": reference.title,
        "container-title": reference.journal or reference.container,
        "author": [{"literal": name} for name in reference.authors],
        "DOI": reference.doi,
        "URL": reference.url,
        "issued": _date_parts(reference.issued),
        "accessed": _date_parts(reference.accessed),
        "language": reference.language,
        "note": " ".join(reference.remarks),
    }
    return {name: value for name, value in item.items() if value}


def _date_parts(date: tuple[int, ...]) -> dict[str, Any]:
    return {"date-parts": [list(date)]} if date else {}
