"""What TeX would print."""

from __future__ import annotations

from pylatexenc.latex2text import LatexNodes2Text


def read_tex(text: str) -> str:
    """The text as printed. The reader does not know three signs of LaTeX's own, and prints the circumflex as an
    accent."""
    for name, sign in (("textbar", "|"), ("textless", "<"), ("textgreater", ">")):
        text = text.replace(f"{{\\{name}}}", sign)
    return LatexNodes2Text(keep_comments=True).latex_to_text(text).replace("ˆ", "^")


def straight(text: str) -> str:
    """Quotes as TeX prints them, made plain again: TeX knows curly ones only."""
    for curly, plain in (("“", '"'), ("”", '"'), ("‘", "`"), ("’", "'"), ("„", '"')):
        text = text.replace(curly, plain)
    return text.replace("``", '"').replace("''", '"')
