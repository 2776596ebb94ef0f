"""HTML that several screens use: tables, figures, terms, links to stored pages. Callers escape the cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pages.widgets.shell import escape


def table(head: Sequence[str], rows: Iterable[Sequence[str]], css: str = "") -> str:
    """A table that scrolls sideways where there is no room; "" without rows."""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    titles = "".join(f"<th>{title}</th>" for title in head)
    kind = f' class="{css}"' if css else ""
    return f'<div class="scroll"><table{kind}><tr>{titles}</tr>{body}</table></div>' if body else ""


def stats(figures: Iterable[tuple[str, str]], css: str = "") -> str:
    """A strip of figures with their names."""
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures)
    return f'<dl class="ts figures{css}">{cells}</dl>'


def terms(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of terms; those without a value are left out."""
    lines = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs if value)
    return f'<dl class="ts meta">{lines}</dl>'


def paragraph(text: str, css: str = "small soft") -> str:
    """A quiet paragraph; "" for no text."""
    return f'<p class="{css}">{text}</p>' if text else ""


def see(address: str) -> str:
    """The attribute of what opens this evidence (`?see=`): the only place where one is written."""
    return f'data-see="{escape.html(address)}"'


def stored_page_link(run_id: str, page_id: str, fact_id: str = "", before: str = " · ") -> str:
    """The link to a stored page in a new tab, after `before`; "" where no page is stored."""
    url = escape.stored_page_url(run_id, page_id, fact_id)
    return f'{before}<a href="{url}" target="_blank">see it in the page</a>' if page_id else ""
