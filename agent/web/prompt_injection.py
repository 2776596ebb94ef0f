"""Lines of a page that give orders to a reading machine.

Finds the plain cases, by words; it is no protection against a clever page. The consequence is small on
purpose: links in such a line are not followed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.types import Link

_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|rules|directions)\b"
    r"|\b(?:note|message|instructions?|attention|dear|hey)\b.{0,20}"
    r"\b(?:ai|llm|language model|research|browsing)\b.{0,20}"
    r"\b(?:agents?|assistants?|models?|bots?)\b"
    r"|\b(?:ai|llm)\s(?:agents?|assistants?|models?)\b.{0,60}"
    r"\b(?:must|should|shall|ignore|report|open|visit|follow|fetch|confirm)\b"
    r"|^\s*(?:system|assistant)\s*(?:prompt|message)?\s*:",
    re.IGNORECASE,
)


def find_injected_lines(text: str) -> list[str]:
    """The lines of a text that give orders to a machine."""
    return [line for line in text.split("\n") if _INJECTION.search(line)]


def find_injected_links(text: str, links: Sequence[Link]) -> list[Link]:
    """The links of a page whose address or anchor is in such a line."""
    lines = find_injected_lines(text)
    return [
        link
        for link in links
        if any(link.url in line or (link.text.strip() and link.text.strip() in line) for line in lines)
    ]
