"""Plays the scenarios of tests/played with a real model and records what it answered.

    python -m bench.play --base-url http://127.0.0.1:8099/v1 [--only ID ...] [--play honest] [--record]

Any OpenAI-compatible server will do. Each scenario runs on an empty store; a line tells calls, tokens, whether
the answer is right by its gold words, verdict, confidence and how each sentence was checked. `--record` writes
every reply to tests/played/replies/ID.jsonl and the outcome to ID.outcome.json, which
tests/played/test_played.py replays. `--table` prints the recorded outcomes as the table of DECISIONS.md."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed

from agent.settings import config as configuration
from agent.types import SUPPORTED_VERDICTS
from agent.workbench import Workbench
from bench.recordings import read_outcome, write_outcome
from tests.played.replay import record_replies
from tests.played.scenario import FOLDER, REPLIES, Outcome, Scenario, drive_scenario, load_scenarios


def main() -> None:
    """Play what the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base-url", help="the server's address, up to /v1")
    parser.add_argument("--table", action="store_true", help="print the recorded outcomes and play nothing")
    parser.add_argument("--model", default="bridge")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="scenarios played side by side")
    asked = parser.parse_args()
    if asked.table:
        print(render_table())
        return
    if not asked.base_url:
        parser.error("give --base-url, the address of an OpenAI-compatible server, or --table")
    chosen = [scenario for scenario in load_scenarios() if not asked.only or scenario.id in asked.only]
    with ThreadPoolExecutor(asked.jobs) as pool:
        playing = {pool.submit(play, each, asked.base_url, asked.model): each for each in chosen}
        for done in as_completed(playing):
            scenario = playing[done]
            print(
                f"== {scenario.id} ({scenario.kind})\n{describe_outcome(scenario, done.result())}", flush=True
            )
            if asked.record:
                record(scenario, done.result())


def play(scenario: Scenario, base_url: str, model: str) -> Outcome:
    """Drive one scenario on an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        defaults = {name: setting.default for name, setting in configuration.SETTINGS.items()}
        own = {
            "TOUCHSTONE_DATA": folder,
            "OPENAI_BASE_URL": base_url,
            "OPENAI_API_KEY": "none",
            "MODEL": model,
            "MODEL_TIMEOUT": 1800,
            "EMBEDDING_MODEL": "off",
            "CONFIG_FILE": "",
        }
        known = {name: value for name, value in own.items() if name in configuration.SETTINGS}
        bench = Workbench(configuration.read_config(defaults | known))
        try:
            return drive_scenario(bench, scenario)
        finally:
            bench.shutdown()


def describe_outcome(scenario: Scenario, outcome: Outcome) -> str:
    """The outcome as a paragraph."""
    checks = Counter(sentence.check or "no claim" for sentence in outcome.sentences)
    roles = Counter(call.role for call in outcome.calls)
    lines = [
        f"right={outcome.is_right(scenario.gold)} verdict={outcome.verdict} confidence={outcome.confidence} "
        f"calls={len(outcome.calls)} tokens={outcome.tokens} checks={dict(checks)} roles={dict(roles)}"
    ]
    for sentence in outcome.sentences:
        marks = "; ".join(f"{f.kind}: {f.claimed!r} / {f.quoted!r}" for f in sentence.findings)
        lines.append(
            f"  [{sentence.check or '-'}] {sentence.text} {f'({marks})' if marks else ''} {sentence.check_reason}"
        )
    return "\n".join(lines if outcome.sentences else [*lines, f"  {outcome.text}"])


def record(scenario: Scenario, outcome: Outcome) -> None:
    """Write the replies and the outcome of a scenario."""
    REPLIES.mkdir(exist_ok=True)
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in record_replies(outcome.calls))
    (REPLIES / f"{scenario.id}.jsonl").write_text(text + "\n", "utf-8")
    write_outcome(scenario, outcome, {"calls": len(outcome.calls), "tokens": outcome.tokens})


def render_table() -> str:
    """The recorded outcomes: false sentences shown as supported (without a visible doubt), marked ones, and
    true ones without support."""
    labels = json.loads((FOLDER / "labels.json").read_text("utf-8"))
    rows = [
        "| run | kind | calls | tokens | right | false as supported | false, marked | true as unsupported "
    ]
    rows[0] += "| confidence | verdict |"
    rows.append("|---|---|---|---|---|---|---|---|---|---|")
    for scenario in load_scenarios():
        if not (found := read_outcome(scenario)):
            continue
        last, is_true = found["turns"][-1], labels[scenario.id]
        claims = [sentence for sentence in last.get("sentences", []) if "check" in sentence]
        false = [sentence for sentence in claims if not is_true[sentence["text"]]]
        bare = [s for s in false if s["check"] in SUPPORTED_VERDICTS and "marks" not in s]
        lost = [s for s in claims if is_true[s["text"]] and s["check"] not in SUPPORTED_VERDICTS]
        cells = [
            scenario.id,
            scenario.kind,
            found["played"]["calls"],
            found["played"]["tokens"],
            ("yes" if found["right"] else "no") if scenario.play in ("honest", "sloppy") else "–",
            f"{len(bare)}/{len(false)}",
            len(false) - len(bare),
            f"{len(lost)}/{len(claims) - len(false)}",
            f"{last.get('confidence', '–')}",
            last.get("verdict", "silent"),
        ]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
