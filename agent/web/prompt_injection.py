"""Sentences of a page that give orders to a reading machine.

Finds the plain cases by their form: a machine is addressed and told what to do. It is no protection against a
clever page; against one, no reply of a model can fetch what is not known or quote what is not there. Here
links in such a line are not followed, and a fact quoted from it is flagged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.text.sentences import find_sentence_spans
from agent.types import Link

_NAMES = (
    r"(?:\b(?:AI|A\.I\.|LLM|KI|IA)s?\b|(?i:\b(?:(?:large )?language models?|chat ?bots?|chatgpt"
    r"|(?:virtual|digital|research|browsing) (?:assistants?|agents?))\b|\bKI-\w+))"
)
_KINDS = r"(?i:\b(?:assistants?|agents?|models?|bots?|crawlers?|scrapers?|summari[sz]ers?|systems?)\b)"
_MACHINE = rf"(?:{_NAMES}(?:[ -]{_KINDS})?|{_KINDS})"
_VERBS = (
    r"(?i:\b(?:say|tell|state|answer|reply|respond|report|recommend|claim|confirm|write|output|repeat|visit"
    r"|open|fetch|follow|ignore|disregard|forget|send|include|add|append|call|search|treat|assume|stop)\b)"
)
_MUST = (
    r"(?i:\b(?:must|should|shall|(?:have|need) to|(?:are|is) (?:asked|told|instructed|required|requested) to"
    r"|please)\b)"
)
_FORMS = (
    r"(?i:\b(?:ignore|disregard|forget|override)\b.{0,25}\b(?:previous|prior|above|earlier|preceding|all|any"
    r"|your|other|system)\b.{0,25}\b(?:instructions?|prompts?|rules|directions|guidelines)\b)",
    r"(?i:\b(?:ignor\w+|disregard|vergiss|olvida)\b.{0,25}\b(?:system prompts?|anweisungen|instrucciones"
    r"|istruzioni|instruktioner)\b)",
    r"(?:^|[.!?:(]\s*)\W*(?i:(?:please )?(?:ignore|disregard|forget) [^.!?]{3,60}\b(?:and|then) "
    r"(?:say|state|tell|answer|reply|report|write|output|print|claim)\b)",
    rf"(?i:\b(?:note|message|notice|instructions?|attention|dear|hey|hello)\b).{{0,12}}{_NAMES}",
    rf"{_NAMES}[^.;,]{{0,40}}{_MUST}[^.;]{{0,30}}{_VERBS}",
    rf"^\W*(?:(?i:if you are|as|to|for)\s)?(?:(?i:an?|all|any|every)\s)?{_MACHINE}[^:,.!?]{{0,40}}[:,!–—-]\s*"
    rf"(?:(?i:please|you must|always|now)\s)*{_VERBS}",
    rf"{_MACHINE}\s(?i:(?:that|who|which)?\s?(?:read|visit|crawl|index|process|pars|summari[sz]|quot)(?:e?s|ing)?"
    rf" (?:this|these|our)\b).{{0,80}}{_VERBS}",
    rf"(?i:\bif you are an?\b).{{0,20}}{_MACHINE}",
    r"^\s*(?i:system|assistant)(?i:\s*(?:prompt|message))?\s*:",
)
_ORDER = re.compile("|".join(_FORMS))
_CONTEXT_CHARS = 1000


def find_injected_links(text: str, links: Sequence[Link]) -> list[Link]:
    """The links of a page whose address or anchor is in a line that gives orders to a machine."""
    lines = list(filter(_ORDER.search, text.split("\n"))) if links else []
    return [
        link
        for link in links
        if any(link.url in line or (link.text.strip() and link.text.strip() in line) for line in lines)
    ]


def find_order(text: str, start: int, end: int) -> str:
    """The sentence that makes the stretch of a text part of an order to a machine; "" for none.

    A sentence of the stretch, one before it in its line, or the line before if that ends with a colon."""
    low = max(0, start - _CONTEXT_CHARS)
    block = text.rfind("\n", low, start) + 1 or low
    before = text[low:block].rstrip().rpartition("\n")[2]
    if re.search(r":\W*$", before):
        block = text.rfind(before, low, block)
    stop = text.find("\n", end, end + _CONTEXT_CHARS)
    shown = text[block : stop if stop >= 0 else end + _CONTEXT_CHARS]
    for first, last in find_sentence_spans(shown):
        if block + first < end and _ORDER.search(shown[first:last]):
            return shown[first:last]
    return ""
