"""A scripted model that researches the huts of the demo world and writes a full report on them."""

from __future__ import annotations

import re
from typing import Any

from tests.web.claim_judge import unfence
from tests.web.reporting_model import find_facts
from tests.web.researching_model import Script, crawl, together

HUTS = ("Brattli", "Storfall", "Vindskar")
SITE = "https://stuglaget.example"
QUESTION = (
    "How do the huts Brattli, Storfall and Vindskar compare, and how many people stayed there each season?"
)
PAGES = [*(f"{SITE}/huts/{hut.lower()}" for hut in HUTS), f"{SITE}/statistics"]
FINDINGS = [
    *(rf"{hut} hut (?:was built in \d+|has \d+ beds)\." for hut in HUTS),
    *(rf"A night at {hut} hut costs \d+ kronor" for hut in HUTS),
    *(rf"\w+ \w+ has kept {hut} hut since \d+\." for hut in HUTS),
    r"20\d\d \| [\d,]+ \| [\d,]+ \| [\d,]+",
]
BUILT, BEDS, PRICE = r"built in (\d+)", r"has (\d+) beds", r"costs (\d+ kronor)"


class HutScript(Script):
    """Reads the statistics and a page for each hut, keeps what FINDINGS match, and reports on it."""

    def __init__(self) -> None:
        super().__init__(together(*map(crawl, PAGES)))

    def analyzer(self, prompt: str) -> dict[str, Any]:
        """Every finding that a passage holds."""
        shown = dict(re.findall(r"^Passage (p\d+)[^\n]*:\n(.*?)(?=^Passage p\d+|\Z)", prompt, re.M | re.S))
        facts = [
            {"statement": found[0], "quote": found[0], "passage_id": name, "subject": "", "attribute": ""}
            for name, text in shown.items()
            for finding in FINDINGS
            for found in re.finditer(finding, text)
        ]
        return {**super().analyzer(""), "facts": facts, "confidence_score": 0.9}

    def report(self, prompt: str) -> dict[str, Any]:
        """A sentence of a brief answer; a full report is written by sections."""
        name, line = next((n, line) for n, line in find_facts(prompt).items() if "36 beds" in line)
        said = [{"text": line.split(" | quote:")[0], "fact_ids": [name]}]
        is_brief = "Length: brief" in prompt
        return {"length": "full", "blocks": [{"kind": "paragraph", "sentences": said}] if is_brief else []}

    def outline(self, prompt: str) -> dict[str, Any]:
        """Beds and prices, the years, the keepers."""
        ids = find_facts(prompt)
        kinds = {"years": r"^20\d\d|\d{4}; |Season", "keepers": r"has kept", "huts": r"."}
        chosen: dict[str, list[str]] = {kind: [] for kind in kinds}
        for name, line in ids.items():
            chosen[next(kind for kind, pattern in kinds.items() if re.search(pattern, line))].append(name)
        forms = {"huts": ("The huts compared", "table"), "years": ("Overnight stays", "table")}
        forms["keepers"] = ("Who keeps them", "prose")
        return {
            "title": "Three huts on Norrvidda",
            "sections": [
                {"heading": heading, "part": "", "form": form, "fact_ids": chosen[kind]}
                for kind, (heading, form) in forms.items()
            ],
        }

    def section(self, prompt: str) -> dict[str, Any]:
        """A table of the huts, one of the years, or the sentences as they are."""
        ids = {name: line.split(" | quote:")[0] for name, line in find_facts(prompt).items()}
        if "as a table" not in prompt:
            said = [{"text": line, "fact_ids": [name]} for name, line in ids.items()]
            return {"blocks": [{"kind": "paragraph", "sentences": said}]}
        if any("kronor" in line for line in ids.values()):
            rows = [
                {"label": hut, "cells": [_find_cell(ids, hut, kind) for kind in (BUILT, BEDS, PRICE)]}
                for hut in HUTS
            ]
            heads = ["Hut", "Built", "Beds", "Price of a night"]
            return {"blocks": [{"kind": "table", "text": "The three huts", "heads": heads, "rows": rows}]}
        rows = []
        for name, line in ids.items():
            year, *counts = re.findall(r"\d[\d,]*", line)[:4]
            rows.append({"label": year, "cells": [{"text": n, "fact_ids": [name]} for n in counts]})
        rows.sort(key=lambda row: row["label"])
        return {
            "blocks": [{"kind": "table", "text": "Overnight stays", "heads": ["Year", *HUTS], "rows": rows}]
        }

    def summary(self, prompt: str) -> dict[str, Any]:
        """The sentence on the beds of Storfall, and one on its keeper."""
        [told] = unfence(prompt, "sentences")
        lines = [re.fullmatch(r"- (.*) \((.*)\)", line) for line in told.splitlines()]
        kept = [line for line in lines if line and "kept" in line[1]]
        return {"sentences": [{"text": line[1], "fact_ids": line[2].split(", ")} for line in kept[:2]]}


def _find_cell(ids: dict[str, str], hut: str, kind: str) -> dict[str, Any]:
    found = ((name, re.search(kind, line)) for name, line in ids.items() if hut in line)
    return next(({"text": hit[1], "fact_ids": [name]} for name, hit in found if hit), {"text": ""})
