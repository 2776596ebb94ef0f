"""Switches off one rule after the other, and prints what each is worth.

    python -m bench.ablations claims [FILE_WITH_LABELS ...] [--share PERCENT]
    python -m bench.ablations runs [FOLDER ...] [--limit N] [--seed N]
    python -m bench.ablations finder FOLDER [FOLDER ...] [--flow chat|site] [--limit N] [--seed N]

Every case is collected once, then decided again with each rule off. "=" stands before a rule that changes
nothing at all.

`claims`: the check by code, over files with labels (see bench/claims.py), the sentences of the recorded runs,
and those of the same runs where PERCENT of the sentences were made wrong (see bench/faults.py).
`runs`: how quotes are found on pages and conflicts among facts, over what the recorded runs asked for; of a
FOLDER (a world with questions) the best lines for each question are compared, too.
`finder`: the passage finder. For `chat` an answer is chosen from the ten best passages of the library, for
`site` from the 60 best of the pages on the question's `host` or below its `start_url`."""

from __future__ import annotations

import argparse
import importlib
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from agent.cli.check import read_claims
from agent.evidence import claim_check, conflicts, quote_match
from agent.evidence.claim_check import Claim
from agent.retrieval import answer
from agent.retrieval.scorer import CountedPassages, rank_passages
from agent.types import Fact
from bench import faults
from bench.claims import CERTAIN, REFUSED, read_rows
from bench.evaluation import metrics, runner
from tests.played.replay import keep_reply, replay
from tests.played.scenario import REPLIES, load_scenarios

PASSAGES = {"chat": 10, "site": 60}
CLAIMS_AT, DATES_AT, FIGURES_AT = ("agent.evidence.claims", "agent.text.dates", "agent.text.quantities")
Case = tuple[dict[str, Any], CountedPassages]
Rules = dict[str, dict[str, Any]]
"""What a rule is called: the names to replace, and by what."""


def _nothing(*_given: Any, **_named: Any) -> tuple[()]:
    return ()


def _no(*_given: Any, **_named: Any) -> bool:
    return False


def _yes(*_given: Any, **_named: Any) -> bool:
    return True


def name_rules(module: str, names: str, off: Any = None) -> Rules:
    """A rule for each of these names of a module. `off` None: an expression that matches nothing, an empty
    table or list of words, a number 0."""
    found = Rules()
    for name in names.split():
        value = off
        if off is None:
            kind = type(getattr(importlib.import_module(module), name))
            value = re.compile(r"(?!)") if kind is re.Pattern else kind()
        found[f"{module.rpartition('.')[2]}.{name}"] = {f"{module}.{name}": value}
    return found


def list_claim_rules() -> Rules:
    """The rules of the check by code."""
    off = partial(name_rules, f"{CLAIMS_AT}.differences")
    check = partial(name_rules, "agent.evidence.claim_check")
    forms = importlib.import_module(DATES_AT)._SPANS
    return {
        **off("_describe_figure _find_rivals _find_negation _find_absent_names", lambda *_given: []),
        **off("_GROUPING _LABEL _IDENTIFIER MIN_SHARE _PREFIX _BOUND"),
        **off("_take_initials", lambda _name: ""),
        **name_rules(f"{CLAIMS_AT}.words", "_CJK _RANGE_WORD"),
        **name_rules(f"{CLAIMS_AT}.words", "find_clock_times", _nothing),
        **name_rules(f"{CLAIMS_AT}.computed", "_SPAN _RESULT_WORDS"),
        **check("_BORDER"),
        **check("find_computations", _nothing),
        **check("is_carried", _no),
        **name_rules(FIGURES_AT, "MAX_ROUNDING _LONG_SPANS _CURRENCIES _FRACTIONS _BYTES _ABOUT"),
        **name_rules(FIGURES_AT, "find_numbers", _nothing),
        **name_rules(DATES_AT, "_BARE_YEAR _COUNTED_NOUN"),
        **{
            f"dates form {n}": {f"{DATES_AT}._SPANS": [*forms[:n], *forms[n + 1 :]]}
            for n in range(len(forms))
        },
    }


def list_run_rules() -> Rules:
    """The rules for quotes on pages and conflicts among facts."""
    quote, contradiction = "agent.evidence.quote_match", "agent.evidence.contradiction"
    clash = "agent.evidence.conflicts"
    return {
        **name_rules(quote, "_find_spelled", _nothing),
        **name_rules(quote, "_find_joint", lambda *_given: None),
        **name_rules(quote, "is_fair_skip", _yes),
        **name_rules(quote, "_ASIDE _LIST_MARK _BROKEN_LINE _NUMBER_SUFFIX _NUMBER_PREFIX _LAST_WORD"),
        **name_rules(quote, "_OPENING _CLOSING _SENTENCE_END _NEXT_WORD _PRONOUNS"),
        **name_rules(quote, "has_note_marks", _no),
        **name_rules(contradiction, "_CLAUSE_END _NAMESAKE _ASIDE MAX_OPENING_CHARS"),
        **name_rules(contradiction, "MIN_SIMILARITY"),
        **name_rules(clash, "is_same_thing is_on_question", _yes),
        **name_rules(clash, "comparable_forms", lambda statement: (statement,)),
        **name_rules(clash, "MIN_SHARED_WORDS"),
    }


def list_finder_rules() -> Rules:
    """The rules of the passage finder."""
    off = partial(name_rules, "agent.retrieval.answer")
    return {
        **off("join_head", lambda _passage: ""),
        **off("NEAR_SHARE RANK_WEIGHT _IDENTIFIER MIN_FIT"),
        **off("is_title_named", _no),
    }


@contextmanager
def switch_off(rule: Mapping[str, Any]) -> Iterator[None]:
    """With these names replaced, and nothing remembered from before, nor afterwards."""
    with ExitStack() as stack:
        stack.callback(_forget, rule)
        for name, value in rule.items():
            stack.enter_context(patch(name, value))
        _forget(rule)
        yield


def _forget(rule: Mapping[str, Any]) -> None:
    modules = [f"{CLAIMS_AT}.words", "agent.evidence.contradiction"]
    for module in [*modules, *([FIGURES_AT] if any(name.startswith(FIGURES_AT) for name in rule) else [])]:
        for value in vars(importlib.import_module(module)).values():
            if hasattr(value, "cache_clear") and value.__module__ == module:
                value.cache_clear()


def tell_changes(
    rules: Rules, sets: Mapping[str, Sequence[Any]], decide: Callable[[Any], Any], describe: Any = None
) -> None:
    """A line a rule: how many cases of each set it decides otherwise, and the figures of the set then."""
    before: dict[str, list[Any]] = {}
    for name, rule in {"as it is": {}, **rules}.items():
        told, total = [], 0
        with switch_off(rule):
            for set_name, cases in sets.items():
                now = [decide(case) for case in cases]
                changed = sum(a != b for a, b in zip(now, before.setdefault(set_name, now), strict=True))
                total += changed
                figures = describe(cases, now) if describe and (changed or not rule) else ""
                told.append(f"{set_name} {changed or '='}{figures and f' ({figures})'}")
        print(f"{'=' if rule and not total else ' '} {name:<34} {'; '.join(told)}", flush=True)


def replay_runs(share: float = 0.0) -> None:
    """Replay every recorded run; with a share of their sentences made wrong, those of honest writers."""
    for scenario in load_scenarios():
        if (REPLIES / f"{scenario.id}.jsonl").exists() and (not share or scenario.play == "honest"):
            alter = faults.Faults(share, "nodding", scenario.id).alter if share else keep_reply
            with tempfile.TemporaryDirectory() as folder:
                os.environ["TOUCHSTONE_DATA"] = folder
                replay(scenario, alter)


def collect_claims(share: float = 0.0) -> list[tuple[Claim, str]]:
    """The claims of the recorded runs, with a share of the sentences made wrong."""
    claims, check = dict[Claim, str](), claim_check.check_by_code

    def note(claim: Claim) -> claim_check.ClaimCheck:
        claims[replace(claim, id="")] = ""
        return check(claim)

    with patch("agent.evidence.claim_check.check_by_code", note):
        replay_runs(share)
    return list(claims.items())


def ablate_claims(files: Sequence[str], share: float) -> None:
    """The table of `claims`."""
    sets = dict[str, list[tuple[Claim, str]]]()
    for file in files:
        rows = read_rows(Path(file))
        kinds = [f"{row['label']} {row.get('kind', '')}" for row in rows]
        sets[Path(file).parent.name] = list(zip(read_claims(Path(file)).values(), kinds, strict=True))
    sets |= {"recordings": collect_claims(), "faults": collect_claims(share)}
    for name, cases in sets.items():
        print(f"{name}: {len(cases)} claims")
    tell_changes(list_claim_rules(), sets, lambda case: claim_check.check_by_code(case[0]), describe_claims)


def describe_claims(cases: Sequence[tuple[Claim, str]], checks: Sequence[claim_check.ClaimCheck]) -> str:
    """The figures of a set with labels: certain of the supported, falsely certain, asked about and refused of
    the supported, and asked about of the changed numbers and dates (without any, of all others)."""
    if not cases[0][1]:
        return ""
    both = list(zip([kind for _, kind in cases], checks, strict=True))
    true = [check for kind, check in both if kind.startswith("supported")]
    false = [check for kind, check in both if not kind.startswith("supported")]
    changed = [
        c for kind, c in both if kind.split()[1:] in (["number"], ["date"]) and "supported" not in kind
    ]
    shares = {
        "certain": [c.verdict in CERTAIN for c in true],
        "falsely": [c.verdict in CERTAIN for c in false],
        "asked": [bool(c.findings) for c in true],
        "refused": [c.verdict in REFUSED for c in true],
        "found": [bool(c.findings) for c in changed or false],
    }
    return ", ".join(f"{name} {100 * sum(found) / len(found):.1f}" for name, found in shares.items() if found)


def ablate_runs(folders: Sequence[str], limit: int, seed: int) -> None:
    """The table of `runs`."""
    quotes, ledgers = dict[tuple[str, str], None](), list[tuple[tuple[Fact, ...], Any]]()
    find_quote, find_conflicts = quote_match.find_quote, conflicts.ConflictIndex.find_conflicts

    def note_quote(quote: str, text: str) -> Any:
        quotes[quote, text] = None
        return find_quote(quote, text)

    def note_facts(
        index: conflicts.ConflictIndex, active: Mapping[str, Fact], rulings: Any = (), asked: Any = ()
    ) -> Any:
        facts = tuple(active.values())
        if ledgers and {fact.id for fact in ledgers[-1][0]} <= active.keys():
            ledgers.pop()
        ledgers.append((facts, tuple(asked)))
        return find_conflicts(index, active, rulings, asked)

    with (
        patch("agent.evidence.quote_match.find_quote", note_quote),
        patch.object(conflicts.ConflictIndex, "find_conflicts", note_facts),
    ):
        replay_runs()
    for folder in folders:
        for question, passages in collect_cases(folder, "chat", limit, seed):
            at = {passage.page_id: passage for passage in passages}
            lines = answer.find_best_lines(question["question"], passages, PASSAGES["chat"])
            facts = tuple(
                Fact(
                    id=f"f{n}",
                    statement=line.statement or line.quote,
                    quote=line.quote,
                    title=at[line.page_id].title,
                    url=f"https://{line.page_id}.test/",
                    verified=True,
                )
                for n, line in enumerate(lines)
            )
            ledgers.append((facts, ()))
    print(f"{len(quotes)} quotes, {len(ledgers)} ledgers")

    def decide(case: tuple[Any, Any]) -> Any:
        if isinstance(case[0], str):
            return find_quote(*case)
        return [str(found) for found in conflicts.find_conflicts(case[0], (), case[1])]

    tell_changes(list_run_rules(), {"quotes": list(quotes), "ledgers": ledgers}, decide, count_found)


def count_found(_cases: Sequence[Any], found: Sequence[Any]) -> str:
    """How many cases have a quote, or a conflict."""
    return f"{sum(map(bool, found))} found"


def collect_cases(folder: str, flow: str, limit: int, seed: int) -> list[Case]:
    """The questions of a folder that say whether they can be answered, each with what to choose from."""
    job = runner.EvaluationJob(folder, flow="chat", jobs=1)
    questions = [q for q in runner.read_questions(Path(folder)) if q.get("answerable") is not None]
    if 0 < limit < len(questions):
        questions = random.Random(seed).sample(questions, limit)
    bench = runner.open_workbench(replace(job, flow="chat"))
    pages = {source.url: source.page_id for source in bench.library.sources(limit=1_000_000)}
    cases = list[Case]()
    for question in questions:
        text = question["question"]
        if flow == "site":
            start = question.get("start_url") or f"https://{question['host']}/"
            under = start.rpartition("/")[0] if question.get("host") else start
            ids = [page_id for url, page_id in pages.items() if url.startswith(under)]
            cases.append((question, bench.library.search_pages(text, ids, PASSAGES[flow])))
        else:
            refs = [hit.ref for hit in bench.library.search(text, PASSAGES[flow]).hits]
            found = [ref.to_passage(bench.page(ref.page_id).text, 0.0) for ref in refs]
            counts = bench.library.count_terms(text)
            cases.append((question, CountedPassages(rank_passages(text, found, len(found), counts), counts)))
    bench.shutdown()
    return cases


def score(cases: Sequence[Case], answers: Sequence[tuple[str, ...]]) -> str:
    """The figures of a set in a line."""
    can, refused = list[tuple[bool, bool, bool]](), list[bool]()
    texts = [metrics.trim_answer("\n".join(lines)) for lines in answers]
    for (question, _), lines, text in zip(cases, answers, texts, strict=True):
        if not question["answerable"]:
            refused.append(not lines)
            continue
        golds = [str(gold) for gold in question.get("answers", [])]
        led = metrics.trim_lead(lines[0]) if lines else ""
        if golds:
            every = question.get("answer_mode") == "all"
            right, lead = (metrics.contains_answer(golds, said, every=every) for said in (text, led))
        else:
            right, lead = (
                metrics.covers_answer(question.get("long_answer", ""), said) for said in (text, led)
            )
        can.append((right, lead, not lines))
    right_n, lead_n, refused_n = (sum(row[k] for row in can) / (len(can) or 1) for k in range(3))
    told = f"right {right_n:.3f}, lead {lead_n:.3f}, refused {refused_n:.3f}"
    told += f", rightly {sum(refused) / len(refused):.3f}" if refused else ""
    return f"{told}, words {median([len(text.split()) for text in texts if text] or [0]):.0f}"


def ablate_finder(folders: Sequence[str], flow: str, limit: int, seed: int) -> None:
    """The table of `finder`."""
    sets = {f"{Path(folder).name}, {flow}": collect_cases(folder, flow, limit, seed) for folder in folders}

    def decide(case: Case) -> tuple[str, ...]:
        found = answer.find_answer(case[0]["question"], case[1])
        return tuple(quote.statement for part in found.parts for quote in part.quotes)

    tell_changes(list_finder_rules(), sets, decide, score)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("rules", choices=("claims", "runs", "finder"))
    options.add_argument("sets", nargs="*", metavar="FILE_OR_FOLDER")
    options.add_argument("--share", type=float, default=20.0, help="per cent of the sentences made wrong")
    options.add_argument("--flow", choices=tuple(PASSAGES), default="chat")
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    if given.rules == "claims":
        ablate_claims(given.sets, given.share / 100)
    elif given.rules == "runs":
        ablate_runs(given.sets, given.limit, given.seed)
    else:
        ablate_finder(given.sets, given.flow, given.limit, given.seed)


if __name__ == "__main__":
    main()
