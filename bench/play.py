"""Plays the scenarios of tests/played with a real model and records what it answered.

    python -m bench.play --base-url http://127.0.0.1:8099/v1 [--only ID ...] [--play honest] [--record]

Any OpenAI-compatible server will do. Each scenario runs on an empty store; a line tells calls, tokens, whether
the answer is right by its gold words, verdict, confidence and how each sentence was checked. `--record` writes
every reply to tests/played/replies/ID.jsonl and the outcome to ID.outcome.json, which
tests/played/test_played.py replays."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed

from agent.settings import config as configuration
from agent.workbench import Workbench
from bench.recordings import write_outcome
from tests.played.replay import record_replies
from tests.played.scenario import REPLIES, Outcome, Scenario, drive_scenario, load_scenarios


def main() -> None:
    """Play what the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base-url", required=True, help="the server's address, up to /v1")
    parser.add_argument("--model", default="bridge")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="scenarios played side by side")
    asked = parser.parse_args()
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


if __name__ == "__main__":
    main()
