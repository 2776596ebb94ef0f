"""Measures a folder world: how long its first and its second start take, how long a search, and how much memory.

    python -m bench.worlds [--pages 11000] [--html 300] [--folder FOLDER]

Made-up pages of 600 characters by a fixed seed; some of them are HTML without text, whose text is extracted
while the index is built. Each start is a process of its own; the time is that after import. Exit code 1 when
the second start takes more than 0.5 s or any start more than 300 MB.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import ROOT, make_parser, write_figures

MOST_SECONDS, MOST_MB = 0.5, 300.0
START = """
import resource, sys, time
from agent.settings import config
from agent.web.world import open_world
settings = config.read_config({"TOUCHSTONE_DATA": sys.argv[2]})
began = time.perf_counter()
world = open_world(sys.argv[1], settings)
opened = time.perf_counter()
hits = len(world.search("duckduckgo", "granite harbour of the northern island").hits)
searched = time.perf_counter()
print(opened - began, searched - opened, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, hits)
"""


def write_world(folder: Path, pages: int, html: int) -> None:
    """Writes the documents of a world; the first `html` of them are HTML alone."""
    dice = random.Random(11)
    parts = [[*"ka ro mi tel sun vor hal ne bri dan".split()], [*"mar len dor gan wick stad by fell".split()]]
    words = [a + b + c for a in parts[0] for b in parts[1] for c in ("", "a", "en", "ish", "s")]
    words += "granite harbour northern island lighthouse ferry museum bridge".split()
    with (folder / "docs.jsonl").open("w", encoding="utf-8") as out:
        for n in range(pages):
            title = " ".join(dice.choices(words, k=4)).capitalize()
            text = "\n".join(" ".join(dice.choices(words, k=25)).capitalize() + "." for _ in range(4))
            doc = {"id": str(n), "url": f"https://h{n % 50}.test/{n}", "title": title, "text": text}
            if n < html:
                body = "".join(f"<p>{line}</p>" for line in text.split("\n"))
                doc = {
                    "url": doc["url"],
                    "html": f"<title>{title}</title><main><h1>{title}</h1>{body}</main>",
                }
            out.write(json.dumps(doc) + "\n")


def start(world: Path, data: Path) -> tuple[float, float, float]:
    """Seconds to open a world in a new process, seconds of the first search, and the most memory in MB."""
    command = [sys.executable, "-c", START, str(world), str(data)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    opened, searched, memory, hits = map(float, done.stdout.split())
    assert hits, "the search found nothing"
    return opened, searched, memory


def main() -> int:
    asked = make_parser(__doc__)
    asked.add_argument("--pages", type=int, default=11_000)
    asked.add_argument("--html", type=int, default=300)
    asked.add_argument("--folder", type=Path, help="a world of your own instead")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        world = options.folder or Path(temporary, "world")
        if not options.folder:
            world.mkdir()
            write_world(world, options.pages, options.html)
        runs = [start(world, Path(temporary, "data")) for _ in range(2)]
        kept = sum(file.stat().st_size for file in Path(temporary, "data", "worlds").iterdir())
    for name, (opened, searched, memory) in zip(("first", "second"), runs, strict=True):
        print(f"{name} start: {opened:.2f} s, search {searched * 1000:.0f} ms, {memory:.0f} MB")
    print(f"on disk: {kept / 1e6:.0f} MB (at most {MOST_SECONDS} s for the second start, {MOST_MB:.0f} MB)")
    figures = {
        "first_s": runs[0][0],
        "second_s": runs[1][0],
        "search_s": runs[1][1],
        "most_mb": max(mb for *_, mb in runs),
    }
    write_figures(options.json, figures)
    return int(runs[1][0] > MOST_SECONDS or any(memory > MOST_MB for *_, memory in runs))


if __name__ == "__main__":
    sys.exit(main())
