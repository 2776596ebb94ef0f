"""How well documents are read: `python -m bench.documents FILE...` (without one, the demo's) prints,
for each PDF, the CPU time, the share of letters in glued and in broken words, and how far the words agree with those of pdftotext.

The outside judge is `pdftotext` of poppler-utils (not a dependency; its words are the dictionary). A word is
*glued* when the dictionary lacks it but it splits into two or more words of the dictionary that have at least
three letters ("controlfiles"); *broken* words are two neighbours that the dictionary lacks but whose joint is
in it. Without pdftotext the dictionary is the words that the document itself has twice. The share of glued
letters in pdftotext's own text, judged by the words it has twice, is printed beside ours."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

from agent.web.extract.formats.pdf import extract_pdf
from bench import ROOT

WORD = re.compile(r"[^\W\d_]{2,}")
MIN_PART = 3


def find_words(text: str) -> list[str]:
    """The words of letters alone, in lower case; halves of a word at a line's end are one."""
    return WORD.findall(re.sub(r"(?<=[^\W\d_])[-\u00ad]\n\s*(?=[a-z])", "", text).lower())


def is_glued(word: str, known: Counter[str]) -> bool:
    """Whether a word splits into words of the dictionary."""
    if word in known or len(word) < 2 * MIN_PART:
        return False
    ends = {0}
    for at in range(MIN_PART, len(word) + 1):
        if any(at - start >= MIN_PART and word[start:at] in known for start in ends):
            ends.add(at)
    return len(word) in ends


def measure(words: list[str], known: Counter[str]) -> tuple[float, float]:
    """The shares of letters in glued and in broken words, in percent."""
    letters = sum(map(len, words)) or 1
    glued = sum(len(word) for word in words if is_glued(word, known))
    broken = sum(
        len(a) + len(b) for a, b in pairwise(words) if a not in known and b not in known and a + b in known
    )
    return 100 * glued / letters, 100 * broken / letters


def run_pdftotext(path: Path) -> list[str]:
    """The words of the outside judge; none when it is not installed."""
    if not shutil.which("pdftotext"):
        return []
    command = ["pdftotext", str(path), "-"]
    return find_words(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def repeated(words: list[str]) -> Counter[str]:
    """The words that occur at least twice."""
    return Counter({word: n for word, n in Counter(words).items() if n > 1})


def main(names: list[str]) -> None:
    print(
        f"{'file':32} {'CPU s':>6} {'glued %':>8} {'broken %':>8} {'recall %':>8} {'pdftotext glued %':>17}"
    )
    for path in map(Path, names):
        raw = path.read_bytes()
        began = time.process_time()
        text = extract_pdf(raw, seconds=600).text
        seconds = time.process_time() - began
        words, judged = find_words(text), run_pdftotext(path)
        glued, broken = measure(words, Counter(judged) if judged else repeated(words))
        shared = sum((Counter(words) & Counter(judged)).values())
        recall = 100 * shared / len(judged) if judged else 0.0
        own = measure(judged, repeated(judged))[0]
        print(f"{path.name:32} {seconds:6.2f} {glued:8.2f} {broken:8.2f} {recall:8.1f} {own:17.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or sorted(map(str, (ROOT / "demo").rglob("*.pdf"))))
