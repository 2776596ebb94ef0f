"""Looks for quotes on large pages of every kind: seconds of CPU of the slowest quote and the peak of memory
beside the page (tracemalloc).

    python -m bench.quotes [--characters 10000000] [--quotes 5] [--json FILE]

What is promised, and when the exit code is 1: at most 2 s and 64 MB on a page of ten million characters, and
twice the page takes at most three times the time."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable

from agent.evidence.quote_match import find_quote
from bench import make_parser, write_figures

SECONDS, MEGABYTES, RATIO = 2.0, 64, 3.0
PAGES: dict[str, Callable[[int], str]] = {
    "one long word": lambda size: "a" * size,
    "many short words": lambda size: "a b c d e " * (size // 10),
    "one word repeated": lambda size: "the " * (size // 4),
    "digits": lambda size: "1234567890" * (size // 10),
    "no spaces": lambda size: "abc,def.ghi-jkl/" * (size // 16),
    "chinese": lambda size: "人口约千二百人町中心乳制品工场。" * (size // 16),
    "accents": lambda size: "él año où naïve " * (size // 16),
    "brackets": lambda size: "[" * size,
    "reference marks": lambda size: "the[1] " * (size // 7),
    "spaces": lambda size: " \n" * (size // 2),
    "every character": lambda size: "".join(map(chr, range(0x100, 0xD800))) * (size // 55_040 + 1),
    "negations": lambda size: "not. A " * (size // 7),
    "ellipses": lambda size: "the … a … " * (size // 10),
}
QUOTES = [
    "the mill was built in 1874 by Ole Dahl … It burned down in 1901, and nobody was hurt",
    "the a the a the a the a the a … the a the a the a the a the",
    "the the the the the the the the the the the mill",
    "a b c d e a b c d e a b c d e x",
    "a" * 2000 + " " + "1234567890 " * 300,
]


def measure_seconds(page: str, quotes: list[str]) -> float:
    """Seconds of CPU of the slowest quote."""
    seconds = []
    for quote in quotes:
        started = time.process_time()
        if find_quote(quote, page):
            raise AssertionError(f"found: {quote[:60]}")
        seconds.append(time.process_time() - started)
    return max(seconds)


def measure_megabytes(page: str, quotes: list[str]) -> float:
    """Peak of the memory that was allocated while the quotes were looked for."""
    tracemalloc.start()
    for quote in quotes:
        find_quote(quote, page)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> None:
    """Print a line for each kind of page."""
    parser = make_parser(__doc__)
    parser.add_argument("--characters", type=int, default=10_000_000)
    parser.add_argument("--quotes", type=int, default=len(QUOTES))
    args = parser.parse_args()
    quotes, rows = QUOTES[: args.quotes], []
    for kind, make in PAGES.items():
        half = measure_seconds(make(args.characters // 2), quotes)
        page = make(args.characters)
        seconds, megabytes = measure_seconds(page, quotes), measure_megabytes(page, quotes)
        rows.append({"kind": kind, "seconds": seconds, "ratio": seconds / half, "megabytes": megabytes})
        print(f"{kind:20} {seconds:6.2f} s  {seconds / half:4.1f} x  {megabytes:6.1f} MB", flush=True)
    most = {f"most_{name}": max(row[name] for row in rows) for name in ("seconds", "ratio", "megabytes")}
    write_figures(args.json, {"pages": rows, **most})
    kept = [r["seconds"] <= SECONDS and r["megabytes"] <= MEGABYTES and r["ratio"] <= RATIO for r in rows]  # type: ignore[operator]
    sys.exit(0 if all(kept) or args.json else 1)


if __name__ == "__main__":
    main()
