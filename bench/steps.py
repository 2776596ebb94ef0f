"""Measures what a step costs: own CPU (keyless, pages in a world, nothing waited for), whether it grows, and
bytes in the store.

    python -m bench.steps [--runs 5] [--actions 60]

A generated world of linked pages keeps a run going for some 60 searches and page visits (180 steps). Exit
code 1 when
  * the median step takes more than 60 ms;
  * the median step around action 50 takes more than 1.3 times the one around action 5;
  * a whole round (decide, look, analyze) around action 50 takes more than 1.3 times the one around action 25: until then memory
    fills up to what a judgement looks at (`moves.REMEMBERED` facts), and that may cost; after that nothing may grow;
  * the store grows by more than 20 KB a step, page texts left out.
All are medians over windows of several actions and over several runs."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from sqlalchemy import LargeBinary, cast, func, select

from agent.flows.research import policy
from agent.settings import config as configuration
from agent.store import tables
from agent.types import Settings, Step
from agent.workbench import Workbench
from bench import make_parser, write_figures

MOST_MS, MOST_GROWTH, MOST_BYTES = 60.0, 1.3, 20_000
WINDOW = 5
"""How many actions on each side of the one meant are taken together."""
QUESTION = "Which Sallow keeper of the Brindle lighthouse wrote the storm ledger that the Zorquil archive of Quennervale bought?"
TITLES = ("Sallow keeper", "Brindle lighthouse", "storm ledger")
"""Things the question names outright: their pages are promising for ever, and the archive is never found."""
TOPICS = ("Sallow keeper", "lighthouse", "ledger", "storm")
SYLLABLES = "ka ro mi tel sun vor hal ne bri dan os plu ger wim fa sto lin cu mer dow".split()


def write_world(folder: Path, pages: int = 400) -> None:
    """Pages of some 700 words that all bear a little on the question, each with 25 links and facts of its
    own."""
    dice = random.Random(7)
    address = [f"https://h{n % 40}.example/page/{n}" for n in range(pages)]
    with (folder / "docs.jsonl").open("w", encoding="utf-8") as out:
        for n in range(pages):
            sentences = [_sentence(dice) for _ in range(50)]
            links = [{"to": address[dice.randrange(pages)], "text": dice.choice(TITLES)} for _ in range(25)]
            anchors = "".join(f'<li><a href="{link["to"]}">{link["text"]}</a></li>' for link in links)
            paragraphs = "".join(f"<p>{' '.join(sentences[i : i + 5])}</p>" for i in range(0, 50, 5))
            title = f"{dice.choice(TITLES)} ({_name(dice)} {n})"
            html = f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{paragraphs}</main><ul>{anchors}</ul></body></html>"
            out.write(
                json.dumps(
                    {
                        "id": str(n),
                        "url": address[n],
                        "title": title,
                        "text": " ".join(sentences),
                        "html": html,
                    }
                )
                + "\n"
            )


def _word(dice: random.Random) -> str:
    return "".join(dice.choice(SYLLABLES) for _ in range(dice.choice((2, 2, 3))))


def _name(dice: random.Random) -> str:
    return _word(dice).capitalize()


def _sentence(dice: random.Random) -> str:
    words = [_word(dice) for _ in range(dice.randrange(6, 14))]
    if dice.random() < 0.4:
        words.insert(dice.randrange(len(words)), f"the {dice.choice(TOPICS)} of {_name(dice)}")
    if dice.random() < 0.3:
        words.append(f"in {1700 + dice.randrange(200)}")
    return f"{_name(dice)} {' '.join(words)}."


def long_run(bench: Workbench, world: str, actions: int) -> list[Step]:
    """The steps of one run that goes on for as many actions."""
    settings = Settings(
        world=world, model="keyless", max_steps=actions, max_pages=actions, max_seconds=36_000, until="budget"
    )
    run_id = bench.start(QUESTION, settings)
    bench.drive(run_id)
    view = bench.snapshot(run_id)
    if len(view.state.actions) < actions:
        sys.exit(
            f"the run ended after {len(view.state.actions)} actions ({view.state.why_stopped}): it can't show how a step grows"
        )
    return view.steps


def by_action(runs: list[list[Step]], nth: int) -> dict[str, float]:
    """The median CPU in ms around the nth action: of any step ("step"), of each kind, and of one of each kind
    together ("round")."""
    found: dict[str, list[float]] = defaultdict(list)
    for steps in runs:
        done = 0
        for step in steps:
            done += step.name == "act"
            if step.cpu_ms and abs(done - nth) < WINDOW:
                found[step.name].append(step.cpu_ms)
    told = {kind: median(figures) for kind, figures in found.items() if kind in ("decide", "act", "analyze")}
    return {
        **told,
        "step": median([ms for figures in found.values() for ms in figures]),
        "round": sum(told.values()),
    }


def stored_bytes(bench: Workbench) -> int:
    """The size of the database file without the texts of pages (their links, tables and packed bodies are
    counted)."""
    with bench.store.engine.connect() as connection:
        count, size = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("page_count", "page_size")
        )
        texts = (
            connection.execute(
                select(func.sum(func.length(cast(tables.pages.c.text, LargeBinary))))
            ).scalar_one()
            or 0
        )
    return int(count * size - texts)


def main(arguments: list[str]) -> int:
    """Run, measure, print; 1 when a limit is passed."""
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--actions", type=int, default=60)
    options = parser.parse_args(arguments)
    policy.STALL_ACTIONS = 10_000  # the run must not be handed over before its actions are used
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder) / "world"
        world.mkdir()
        write_world(world)
        bench = Workbench(
            configuration.read_config({"TOUCHSTONE_DATA": f"{folder}/data", "DATABASE_URL": ""})
        )
        empty = stored_bytes(bench)
        first = long_run(
            bench, str(world), options.actions
        )  # warms up imports, caches and the index, and stores every page
        size = (stored_bytes(bench) - empty) / len(first)
        runs = [long_run(bench, str(world), options.actions) for _ in range(options.runs)]
        bench.shutdown()
    return told(runs, size, options.json)


def told(runs: list[list[Step]], size: float, file: Path | None) -> int:
    """Print the figures; 1 when one is over its limit."""
    taken = sorted(step.cpu_ms for steps in runs for step in steps if step.cpu_ms)
    first, full, late = by_action(runs, 5), by_action(runs, 25), by_action(runs, 50)
    figures = {
        "CPU a step, median, ms": (median(taken), MOST_MS),
        "a step at action 50 against 5": (late["step"] / first["step"], MOST_GROWTH),
        "a round at action 50 against 25": (late["round"] / full["round"], MOST_GROWTH),
        "store a step, bytes": (size, MOST_BYTES),
    }
    print(f"{len(runs)} runs, {len(taken)} steps; 95th percentile {taken[int(len(taken) * 0.95)]:.1f} ms")
    for name, (value, most) in figures.items():
        print(f"  {name:<32} {value:10.2f}  (at most {most:g}){'' if value <= most else '  OVER'}")
    print(
        f"  a round at action 50 against 5: x{late['round'] / first['round']:.2f} (memory was still filling up)"
    )
    for name, at in (("5", first), ("25", full), ("50", late)):
        print(f"  around action {name:>2}, ms: " + ", ".join(f"{kind} {ms:.1f}" for kind, ms in at.items()))
    names = ("cpu_ms", "growth", "round_growth", "bytes")
    values = [round(value, 2) for value, _ in figures.values()]
    write_figures(file, dict(zip(names, values, strict=True)))
    return int(any(value > most for value, most in figures.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
