"""Writers that are wrong on purpose, before three judges: which of their sentences are shown as supported?

    python -m bench.faults [--rates 5 20 50] [--seeds 5] [--only ID ...] [--json FILE]

The recorded runs of tests/played by an honest writer are replayed. In each, a share of the sentences (not
of the cells of tables) is made wrong where it can be: it cites the quote of another sentence (neighbour), or
another figure, a name that nobody gave or a turned polarity stands in it. The judge is honest (knows which
are wrong), careless (lets every second one pass) or nodding (says yes to all). Nobody repairs. Of the wrong
sentences it tells how many are shown as supported, without any mark; of the true ones how many are not: what
code took from a right writer. Supported with a dot (a difference that the judge explained) counts
as not shown; how many of the wrong ones have no more than a dot is told, too."""

from __future__ import annotations

import json
import os
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product
from typing import Any

from agent.evidence.support import describe_support
from agent.types import SUPPORTED_VERDICTS, Sentence
from bench import make_parser, write_figures
from tests.played.replay import replay
from tests.played.scenario import REPLIES, Scenario, load_scenarios

JUDGES: dict[str, Callable[[str], bool]] = {
    "honest": lambda text: False,
    "careless": lambda text: sha256(text.encode()).digest()[0] < 128,
    "nodding": lambda text: True,
}
"""Whether a judge of this kind passes a wrong sentence."""
_WRITERS = ("report", "section", "summary", "draft", "digest", "generate", "writing")
_STATEMENT = re.compile(r"^Statement (\d+): (.*)$", re.MULTILINE)
_NAME = re.compile(r"\b[A-ZÄÖÜ][a-zäöüß]+ [A-ZÄÖÜ][a-zäöüß]+\b")
_VERB = re.compile(r"\b(is|was|are|were|has|can|may|will|does|did)\b(?! not)")


@dataclass
class Faults:
    """Makes sentences of a run wrong, and remembers which. `share` is of all that can be made so."""

    share: float
    judge: str
    seed: str
    wrong: dict[str, str] = field(default_factory=dict)
    true: set[str] = field(default_factory=set)

    def alter(self, role: str, messages: list[dict[str, Any]], reply: str) -> str:
        """The reply of a role, made wrong where the role writes; a judgement where it judges."""
        if role in _WRITERS and reply:
            return self._write(reply)
        if role == "check_claims":
            return self._judge(str(messages[-1]["content"]))
        return "" if role == "repair" else reply

    def _write(self, reply: str) -> str:
        given = json.loads(reply)
        sentences = list(_walk_sentences(given))
        luck = random.Random(f"{self.seed} {reply}")  # whichever of several sections comes first
        for sentence in sentences:
            kind = luck.choice(list(_CHANGES)) if luck.random() < self.share else ""
            others = [other for other in sentences if other is not sentence]
            if kind and _CHANGES[kind](sentence, others):
                self.wrong[_normalize(sentence["text"])] = kind
            else:
                self.true.add(_normalize(sentence["text"]))
        return json.dumps(given, ensure_ascii=False)

    def _judge(self, prompt: str) -> str:
        judged = []
        for n, text in _STATEMENT.findall(prompt):
            kind = next((kind for wrong, kind in self.wrong.items() if wrong in _normalize(text)), "")
            passes = not kind or JUDGES[self.judge](text)
            judged.append({"n": int(n), "quote": "", "reason": "as told", "supported": passes})
        return json.dumps({"claims": judged})


def _cite_neighbour(sentence: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    name = "quotes" if "quotes" in sentence else "fact_ids"
    other = next((each[name] for each in others if each.get(name) and each[name] != sentence[name]), None)
    if other is None or any(each in sentence[name] for each in other):
        return False
    sentence[name] = other
    return True


def _invent_figure(sentence: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    return _substitute(sentence, re.compile(r"\d+"), lambda found: str(int(found[0]) + 7))


def _invent_name(sentence: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    return _substitute(sentence, _NAME, lambda found: "Oriel Wexcombe")


def _turn_polarity(sentence: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    return _substitute(sentence, _VERB, lambda found: f"{found[0]} not")


def _substitute(
    sentence: dict[str, Any], pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]
) -> bool:
    former = sentence["text"]
    sentence["text"] = pattern.sub(change, former, count=1)
    return bool(sentence["text"] != former)


_CHANGES: dict[str, Callable[[dict[str, Any], list[dict[str, Any]]], bool]] = {
    "neighbour": _cite_neighbour,
    "figure": _invent_figure,
    "name": _invent_name,
    "polarity": _turn_polarity,
}


def _walk_sentences(value: Any) -> Iterator[dict[str, Any]]:
    """Every object with a text and citations, at any depth but in rows: cells of one text are many."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str) and (value.get("quotes") or value.get("fact_ids")):
            yield value
        value = [inner for name, inner in value.items() if name != "rows"]
    if isinstance(value, list):
        for inner in value:
            yield from _walk_sentences(inner)


def _normalize(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _is_shown_as_supported(sentence: Sentence) -> bool:
    return sentence.check in SUPPORTED_VERDICTS and not sentence.findings


def _has_only_a_dot(sentence: Sentence) -> bool:
    return describe_support(sentence).tone == "note"


def measure(scenarios: list[Scenario], share: float, judge: str, seeds: int) -> Counter[str]:
    """Counts over all scenarios: "wrong KIND", "wrong KIND shown", "dotted" (of the wrong
    ones), "true", "true not shown"."""
    counts: Counter[str] = Counter()
    for scenario, seed in product(scenarios, range(seeds)):
        faults = Faults(share, judge, f"{seed} {scenario.id}")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TOUCHSTONE_DATA"] = folder
            outcome = replay(scenario, faults.alter)
        shown = {_normalize(each.text) for each in outcome.sentences if _is_shown_as_supported(each)}
        dotted = {_normalize(each.text) for each in outcome.sentences if _has_only_a_dot(each)}
        for text, kind in faults.wrong.items():
            counts[f"wrong {kind}"] += 1
            counts[f"wrong {kind} shown"] += text in shown
            counts["dotted"] += text in dotted
        standing = {_normalize(each.text) for each in outcome.sentences if each.check}
        counts["true"] += len(faults.true & standing)
        counts["true not shown"] += len((faults.true & standing) - shown)
        counts["true with a dot"] += len(faults.true & dotted)
    return counts


def main() -> None:
    """Measure each rate with each judge and print a row for each."""
    parser = make_parser(__doc__)
    parser.add_argument("--rates", nargs="*", type=int, default=[5, 20, 50], help="per cent made wrong")
    parser.add_argument("--seeds", type=int, default=5, help="draws of which sentences are wrong")
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    recorded = {path.stem for path in REPLIES.glob("*.jsonl")}
    chosen = [
        scenario
        for scenario in load_scenarios()
        if scenario.id in recorded and scenario.play == "honest" and (scenario.id in (asked.only or recorded))
    ]
    table: dict[str, dict[str, Counter[str]]] = defaultdict(dict)
    for rate in asked.rates:
        for judge in JUDGES:
            counts = table[str(rate)][judge] = measure(chosen, rate / 100, judge, asked.seeds)
            kinds = ", ".join(
                f"{kind} {counts[f'wrong {kind} shown']} of {counts[f'wrong {kind}']}" for kind in _CHANGES
            )
            true = f"true not shown {counts['true not shown']} of {counts['true']}"
            dots = f"with a dot alone: {counts['dotted']} wrong, {counts['true with a dot']} true"
            print(f"{rate} %, {judge}: shown as supported: {kinds}; {dots}; {true}")
    write_figures(asked.json, table)


if __name__ == "__main__":
    main()
