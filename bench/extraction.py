"""Compares extractors of main content: ours (its text, and its passages), resiliparse, trafilatura, and all visible text.

    python -m bench.extraction [--made 90] [--seed 1] [--site FOLDER --gold FILE.jsonl ...] [--pages 60] [FOLDER ...]

It measures on pages made from a seed (documentation, forum, article, with class names that tell nothing on half
of them), of which the sentences of the main text and of the boilerplate are known; on folders of `x.html` beside
`x.txt` (a sentence of the main text a line); and on sites: a folder of HTML, and a file with one
{"page": regex of paths, "right": regex} a line, whose pages must still hold what the regex finds in the visible
text. Navigation of a site is each line that stands in a third of its pages. Prints the shares that are kept and
the CPU milliseconds a page, parsing included. resiliparse and trafilatura are measured where they are installed
(requirements-dev.txt)."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from agent.retrieval.passages import split_passages
from agent.web.extract.html_page import extract_html
from bench import make_parser, write_figures

Extractor = Callable[[str], str]
URL = "https://made.example/"
MIN_LINE = 12
"""Letters of a line of navigation; a shorter one ("Next") may stand in any text."""
NOUNS = "kiln glaze clay cone lid bat wheel slip shelf damper burner flue ash grog oxide bisque".split()
VERBS = "opens holds cracks covers needs warms leaves marks turns dries feeds lines".split()
MENUS = "Home Shop Courses Contact Imprint Login Archive Newsletter Search Sitemap Privacy Jobs".split()


@dataclass
class Sample:
    """A page with the sentences that must be kept, and those that must not."""

    html: str
    wanted: list[str]
    unwanted: list[str]


@dataclass
class Result:
    """What an extractor kept."""

    wanted: int = 0
    kept: int = 0
    unwanted: int = 0
    kept_unwanted: int = 0
    pages: int = 0
    seconds: float = 0.0

    def shares(self) -> dict[str, float]:
        """Per cent of the wanted and of the unwanted that were kept, and milliseconds a page."""
        return {
            "kept": round(100 * self.kept / max(1, self.wanted), 1),
            "noise": round(100 * self.kept_unwanted / max(1, self.unwanted), 1),
            "ms": round(1000 * self.seconds / max(1, self.pages), 2),
        }


def list_extractors() -> dict[str, Extractor]:
    """The extractors that can be imported."""
    found: dict[str, Extractor] = {
        "own": lambda html: extract_html(html, URL).text,
        "own, passages": own_passages,
    }
    try:
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda html: extract_plain_text(html, main_content=True, alt_texts=False)
    except ImportError:
        print("resiliparse is not installed: left out")
    try:
        import trafilatura

        found["trafilatura"] = lambda html: trafilatura.extract(html) or ""
        found["trafilatura, recall"] = lambda html: trafilatura.extract(html, favor_recall=True) or ""
    except ImportError:
        print("trafilatura is not installed: left out")
    found["visible"] = visible_text
    return found


def own_passages(html: str) -> str:
    """What can be found by our index: the passages with their paths."""
    page = extract_html(html, URL).to_page(url=URL, final_url=URL)
    return "\n".join(
        f"{passage.heading}\n{passage.label}\n{passage.text}" for passage in split_passages(page, "p")
    )


def visible_text(html: str) -> str:
    """Everything but scripts and styles, each text node on a line."""
    tree = LexborHTMLParser(html)
    tree.strip_tags(["script", "style", "noscript", "template", "head"])
    return tree.body.text(separator="\n", strip=True) if tree.body is not None else ""


class Maker:
    """Makes pages of the three kinds."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.n = 0

    def make(self, n: int) -> Sample:
        """The n-th page: its kind, and whether its names tell what they are, follow from `n`."""
        self.wanted: list[str] = []
        self.unwanted: list[str] = []
        self.tells = n % 2 == 0
        main = (self._documentation, self._forum, self._article)[n % 3]()
        menu = self._menu(self.dice.randint(5, 12))
        side = self._menu(self.dice.randint(3, 15)) + self._p(self._unwanted("Subscribe to"))
        foot = self._p(self._unwanted("Copyright of")) + self._menu(4)
        parts = [("header", "site-header", menu), ("main", "content", main), ("aside", "sidebar", side)]
        parts.append(("footer", "footer", foot))
        body = "".join(self._part(tag, name, inner) for tag, name, inner in parts)
        return Sample(
            f"<html><head><title>Kiln {n}</title></head><body>{body}</body></html>",
            self.wanted,
            self.unwanted,
        )

    def _part(self, tag: str, name: str, inner: str) -> str:
        if self.tells:
            return f'<{tag} class="{name}">{inner}</{tag}>'
        return f'<div class="c{self.dice.randrange(10**6):x}"><div>{inner}</div></div>'

    def _sentence(self, words: int = 12) -> str:
        self.n += 1
        middle = " ".join(
            f"{self.dice.choice(VERBS)} the {self.dice.choice(NOUNS)}" for _ in range(words // 3)
        )
        return f"The {self.dice.choice(NOUNS)} number {self.n} {middle}."

    def _wanted(self, words: int = 12) -> str:
        self.wanted.append(self._sentence(words))
        return self.wanted[-1]

    def _unwanted(self, start: str) -> str:
        self.unwanted.append(f"{start} {self._sentence(4)}")
        return self.unwanted[-1]

    def _menu(self, entries: int) -> str:
        links = []
        for _ in range(entries):
            self.n += 1
            self.unwanted.append(f"{self.dice.choice(MENUS)} {self.n}")
            links.append(f'<li><a href="/{self.n}">{self.unwanted[-1]}</a></li>')
        return f"<ul>{''.join(links)}</ul>"

    def _p(self, *sentences: str) -> str:
        return f"<p>{' '.join(sentences)}</p>"

    def _paragraphs(self, most: int) -> str:
        return "".join(
            self._p(*(self._wanted() for _ in range(self.dice.randint(1, 4))))
            for _ in range(self.dice.randint(1, most))
        )

    def _documentation(self) -> str:
        parts = [f"<h1>{self._wanted(3)}</h1>"]
        for _ in range(self.dice.randint(2, 5)):
            entries = "".join(
                f"<dt><code>--{self._wanted(3)}</code></dt><dd>{self._p(self._wanted())}</dd>"
                for _ in range(4)
            )
            rows = "".join(f"<tr><td>{self._wanted(3)}</td><td>{self._wanted(3)}</td></tr>" for _ in range(3))
            items = "".join(f"<li>{self._wanted(6)}</li>" for _ in range(4))
            forms = [f"<dl>{entries}</dl>", f"<table>{rows}</table>", f"<ul>{items}</ul>"]
            forms.append(f"<pre>{self._wanted(6)}\n{self._wanted(6)}</pre>")
            parts.append(f"<h2>{self._wanted(3)}</h2>{self._paragraphs(3)}{self.dice.choice(forms)}")
            self.wanted = [sentence for sentence in self.wanted if any(sentence in part for part in parts)]
        return "".join(parts)

    def _forum(self) -> str:
        posts = []
        for _ in range(self.dice.randint(2, 8)):
            text = "".join(
                self._p(self._wanted(self.dice.choice([3, 9, 15]))) for _ in range(self.dice.randint(1, 3))
            )
            name = "post" if self.tells else "x"
            posts.append(
                f'<div class="{name}"><span>user{self.n}</span> <time>2024-05-0{self.n % 9 + 1}</time>{text}</div>'
            )
        return f"<h1>{self._wanted(4)}</h1>{''.join(posts)}"

    def _article(self) -> str:
        return f"<article><h1>{self._wanted(4)}</h1>{self._paragraphs(9)}<blockquote>{self._wanted()}</blockquote></article>"


def measure(samples: Iterable[Sample], extractors: dict[str, Extractor]) -> dict[str, Result]:
    """What each extractor keeps of these pages."""
    results = {name: Result() for name in extractors}
    for sample in samples:
        for name, extract in extractors.items():
            began = time.process_time()
            text = flat(extract(sample.html))
            result = results[name]
            result.seconds += time.process_time() - began
            result.pages += 1
            result.wanted += len(sample.wanted)
            result.kept += sum(flat(sentence) in text for sentence in sample.wanted)
            result.unwanted += len(sample.unwanted)
            result.kept_unwanted += sum(flat(line) in text for line in sample.unwanted)
    return results


def flat(text: str) -> str:
    """Only letters and figures, so that marks of lists and tables do not count."""
    return "".join(c for c in text.lower() if c.isalnum())


def read_folder(folder: Path) -> Iterable[Sample]:
    """The pages of a folder with their expected text."""
    for file in sorted(folder.glob("*.html")):
        expected = file.with_suffix(".txt")
        if expected.exists():
            lines = [line for line in expected.read_text("utf-8").splitlines() if line.strip()]
            yield Sample(file.read_text("utf-8", "replace"), lines, [])


def read_site(folder: Path, gold: list[dict[str, str]], most: int, seed: int) -> list[Sample]:
    """The pages with golds, and others up to `most`. Wanted is what the regex of a gold finds; unwanted are the
    lines that stand in a third of the pages."""
    files = sorted(folder.rglob("*.html"))
    golds = {file: _find_golds(file, folder, gold) for file in files}
    chosen = [file for file in files if golds[file]]
    rest = [file for file in files if not golds[file]]
    random.Random(seed).shuffle(rest)
    chosen += rest[: max(0, most - len(chosen))]
    texts = {file: file.read_text("utf-8", "replace") for file in chosen}
    lines = {
        file: {line for line in visible_text(texts[file]).split("\n") if len(flat(line)) >= MIN_LINE}
        for file in chosen
    }
    counts = Counter(line for found in lines.values() for line in found)
    repeated = {line for line, times in counts.items() if times >= max(3, len(chosen) / 3)}
    return [Sample(texts[file], golds[file], sorted(lines[file] & repeated)) for file in chosen]


def _find_golds(file: Path, folder: Path, gold: list[dict[str, str]]) -> list[str]:
    path = str(file.relative_to(folder))
    wanted = [
        row["right"] for row in gold if row.get("page") and row.get("right") and re.search(row["page"], path)
    ]
    if not wanted:
        return []
    text = " ".join(visible_text(file.read_text("utf-8", "replace")).split())
    found = (re.search(right, text, re.IGNORECASE) for right in wanted if not right.startswith("(?s)"))
    return [match.group() for match in found if match and flat(match.group())]


def show(title: str, results: dict[str, Result]) -> None:
    """Print a table."""
    print(
        f"\n{title}: {next(iter(results.values())).pages} pages\n{'':22} kept %  noise %  ms/page", flush=True
    )
    for name, result in results.items():
        print(f"{name:22}" + "".join(f" {each:7.1f}" for each in result.shares().values()), flush=True)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--made", type=int, default=90)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--site", action="append", default=[], type=Path)
    parser.add_argument("--gold", action="append", default=[], type=Path)
    parser.add_argument("--pages", type=int, default=60)
    options = parser.parse_args()
    extractors = list_extractors()
    maker = Maker(options.seed)
    samples = [maker.make(n) for n in range(options.made)]
    made: dict[str, dict[str, dict[str, float]]] = {}
    for kind, name in enumerate(("documentation", "forum", "article")):
        results = measure(samples[kind::3], extractors)
        show(f"made, {name}", results)
        made[name] = {each: result.shares() for each, result in results.items()}
    for folder in options.folders:
        show(str(folder), measure(read_folder(folder), extractors))
    rows = [
        json.loads(line)
        for file in options.gold
        for line in file.read_text("utf-8").splitlines()
        if line.strip()
    ]
    for folder in options.site:
        show(folder.name, measure(read_site(folder, rows, options.pages, options.seed), extractors))
    write_figures(options.json, made)


if __name__ == "__main__":
    main()
