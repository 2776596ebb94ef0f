"""What every recorded run of tests/played comes to, against what it came to when this was last written.

    python -m bench.recordings [--only ID ...]    # the differences as a diff; exit code 1 when there are any
    python -m bench.recordings --write            # store what comes out now; then review the diff

A sentence, with its check and its marks, is one line."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from difflib import unified_diff
from pathlib import Path
from typing import Any

from agent.types import SUPPORTED_VERDICTS
from bench import make_parser, write_figures
from tests.played.replay import replay
from tests.played.scenario import FOLDER, REPLIES, Outcome, Scenario, load_scenarios


def outcome_path(scenario: Scenario) -> Path:
    """Where the outcome of a recorded scenario is stored."""
    return REPLIES / f"{scenario.id}.outcome.json"


def read_outcome(scenario: Scenario) -> dict[str, Any]:
    """The stored outcome; empty where there is none."""
    path = outcome_path(scenario)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write_outcome(scenario: Scenario, outcome: Outcome, played: dict[str, int]) -> None:
    """Store an outcome; `played` is what the calls cost when a model played it."""
    kept = {"played": played, **describe_outcome(scenario, outcome)}
    outcome_path(scenario).write_text(f"{_render(kept)}\n", "utf-8")


def describe_outcome(scenario: Scenario, outcome: Outcome) -> dict[str, Any]:
    """What is compared: whether it is right by its gold words, the calls by role, and each turn."""
    roles = dict(sorted(Counter(call.role for call in outcome.calls).items()))
    return {"right": outcome.is_right(scenario.gold), "roles": roles, "turns": outcome.turns}


def compare_outcome(scenario: Scenario, outcome: Outcome) -> str:
    """The difference of an outcome from the stored one, as a diff; "" for none."""
    stored = {name: value for name, value in read_outcome(scenario).items() if name != "played"}
    before, after = (_render(given).splitlines() for given in (stored, describe_outcome(scenario, outcome)))
    name = outcome_path(scenario).name
    return "\n".join(unified_diff(before, after, name, "now", n=2, lineterm=""))


def _render(value: Any, indent: str = "") -> str:
    """JSON in which each item of a list, and each record that holds no records, is one line."""
    inner = indent + " "
    if isinstance(value, list) and value:
        items = [_render(item, inner) for item in value]
    elif isinstance(value, dict) and any(_holds_records(item) for item in value.values()):
        items = [f"{json.dumps(name)}: {_render(item, inner)}" for name, item in value.items()]
    else:
        return json.dumps(value, ensure_ascii=False)
    lines = ",\n".join(f"{inner}{item}" for item in items)
    return f"[\n{lines}\n{indent}]" if isinstance(value, list) else f"{{\n{lines}\n{indent}}}"


def _holds_records(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value))


def count_outcome(scenario: Scenario, outcome: Outcome) -> Counter[str]:
    """A run with its calls, whether it is right by its gold words, and the sentences that a reader of the pages
    called false: all, and those shown as supported without a mark. Runs with hostile replies, and with a hostile
    judge, too ("y…"), are counted by themselves and have no right answer."""
    labels = json.loads((FOLDER / "labels.json").read_text("utf-8")).get(scenario.id, {})
    is_honest = scenario.play in ("honest", "sloppy")
    kind = "honest" if is_honest else "hostile_judge" if scenario.id.startswith("y") else "hostile"
    claims = [each for each in outcome.turns[-1].get("sentences", []) if "check" in each]
    false = [each for each in claims if labels.get(each["text"]) is False]
    bare = [each for each in false if each["check"] in SUPPORTED_VERDICTS and "marks" not in each]
    counts = {"calls": len(outcome.calls), kind: 1, f"{kind}_false": len(false), f"{kind}_bare": len(bare)}
    return Counter({**counts, "right": is_honest and outcome.is_right(scenario.gold)})


def main() -> None:
    """Replay every recording and print, or write, what differs."""
    parser = make_parser(__doc__)
    parser.add_argument("--write", action="store_true", help="store what comes out now")
    parser.add_argument("--only", nargs="*", default=[], help="ids of scenarios")
    asked = parser.parse_args()
    recorded = [each for each in load_scenarios() if (REPLIES / f"{each.id}.jsonl").exists()]
    found, counts = False, Counter[str]()
    for scenario in recorded:
        if asked.only and scenario.id not in asked.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TOUCHSTONE_DATA"] = folder
            outcome = replay(scenario)
        counts.update(count_outcome(scenario, outcome))
        if difference := compare_outcome(scenario, outcome):
            found = True
            print(difference)
        if asked.write:
            write_outcome(scenario, outcome, read_outcome(scenario).get("played", {}))
    write_figures(asked.json, {**counts, "same": not found})
    sys.exit(found and not asked.write)


if __name__ == "__main__":
    main()
