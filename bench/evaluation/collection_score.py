"""Scores a `collect` run against what its site holds: which wanted items were kept, missed, or wrong, whether
their text, date, writer and posts are right, and whether each page got a right decision.

A question names `start_url`, the wanted `items` ({url, text, date, author, posts: [[user, date], ...]}; only
`url` is needed), and `actions`: the right decisions by page address. The three shares are those of seed 001:
extraction (above .90), relevance (above .85), decisions (above .90)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.actions.export import read_item_text
from agent.text.urls import canonicalize
from agent.types.collection import CollectedItem
from agent.workbench import RunSnapshot, Workbench

MIN_SAME_SHARE = 0.5
"""The share of a wanted item's words in an item of the same page from which they are the same."""
MIN_TEXT_SHARE = 0.9
"""The share of the wanted words that a rightly extracted item has."""
MAX_EXTRA_SHARE, MAX_EXTRA_WORDS = 0.5, 30
"""Words beyond the wanted ones that a rightly extracted item may have: title and captions, not a menu."""
Row = Mapping[str, Any]


def score_collection(bench: Workbench, view: RunSnapshot, question: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of one run; `faults` says in a line each what is not right."""
    wanted: list[dict[str, Any]] = question.get("items", [])
    kept = view.state.own.kept_items
    dropped = [item for item in view.state.own.items.values() if item.status == "dropped"]
    texts = {item.id: _text_of(bench, item) for item in [*kept, *dropped]}
    matched = {item.id: _match(item, texts[item.id], wanted) for item in [*kept, *dropped]}
    got = {n for item in kept if (n := matched[item.id]) is not None}
    wrong = [item for item in kept if matched[item.id] is None]
    lost = [item for item in dropped if (n := matched[item.id]) is not None and n not in got]
    faults = [f"wrong: {item.url} {item.publish_date}" for item in wrong]
    faults += [f"missed: {item['url']}" for n, item in enumerate(wanted) if n not in got]
    complete = 0
    for item in kept:
        if (n := matched[item.id]) is not None:
            problem = _find_fault(item, texts[item.id], wanted[n])
            complete += not problem
            faults += [f"{problem}: {item.url}"] if problem else []
    decided, right = _score_decisions(view, question.get("actions", {}), faults)
    return {
        "wanted": len(wanted),
        "kept": len(got),
        "missed": len(wanted) - len(got),
        "wrong": len(wrong),
        "complete": complete,
        "judged": len(kept) + len(dropped),
        "misjudged": len(wrong) + len(lost),
        "decided": decided,
        "decided_rightly": right,
        "pages": len(view.state.pages),
        "faults": faults,
    }


def compute_metrics(rows: Sequence[Row]) -> dict[str, float]:
    """The shares over all rows, then those of each scenario (the question's `type`)."""
    found = dict(_shares(rows))
    for name in sorted({row["type"] for row in rows if row["type"]}):
        found |= {f"{name}: {key}": value for key, value in _shares([r for r in rows if r["type"] == name])}
    return found


def _shares(rows: Sequence[Row]) -> Iterable[tuple[str, float]]:
    total = Counter[str]()
    for row in rows:
        total.update({key: value for key, value in row.items() if isinstance(value, int)})
    yield "extraction", _share(total["complete"], total["wanted"])
    yield "relevance", 1 - _share(total["misjudged"], total["judged"], empty=0.0)
    yield "decisions", _share(total["decided_rightly"], total["decided"])
    for key in ("wanted", "kept", "missed", "wrong"):
        yield key, float(total[key])


def _share(part: int, whole: int, empty: float = 1.0) -> float:
    return round(part / whole, 4) if whole else empty


def _text_of(bench: Workbench, item: CollectedItem) -> str:
    """The text of an item with its posts."""
    return "\n".join([read_item_text(bench, item), *(post.text for post in item.posts)])


def _match(item: CollectedItem, text: str, wanted: Sequence[Mapping[str, Any]]) -> int | None:
    """The number of the wanted item that this one is: of the same page, the one with most words in common."""
    words = Counter(text.split())
    best, most = None, MIN_SAME_SHARE
    for n, other in enumerate(wanted):
        if canonicalize(item.url) == canonicalize(other["url"]):
            gold = Counter(other.get("text", "").split())
            share = (gold & words).total() / gold.total() if gold else 1.0
            if share >= most:
                best, most = n, share
    return best


def _find_fault(item: CollectedItem, text: str, wanted: Mapping[str, Any]) -> str:
    """What is not right about an extracted item; "" when all is."""
    gold, words = Counter(wanted.get("text", "").split()), Counter(text.split())
    if gold and (gold & words).total() < MIN_TEXT_SHARE * gold.total():
        return "text is missing"
    if gold and (words - gold).total() > MAX_EXTRA_SHARE * gold.total() + MAX_EXTRA_WORDS:
        return "foreign text"
    if wanted.get("date") and item.publish_date[:10] != wanted["date"]:
        return f"date {item.publish_date[:10]} for {wanted['date']}"
    if wanted.get("author") and wanted["author"] not in (item.author, *(post.user for post in item.posts)):
        return "writer"
    posts = [[post.user, post.date[:10]] for post in item.posts]
    return "posts" if wanted.get("posts") and posts != wanted["posts"] else ""


def _score_decisions(
    view: RunSnapshot, right: Mapping[str, Sequence[str]], faults: list[str]
) -> tuple[int, int]:
    """How many pages with a known right decision were decided, and how many of them rightly."""
    known = {canonicalize(url): actions for url, actions in right.items()}
    decided = [node for node in view.state.own.tree.values() if node.action and node.id in known]
    wrong = [node for node in decided if node.action not in known[node.id]]
    faults += [f"{node.action} for {'/'.join(known[node.id])}: {node.url}" for node in wrong]
    return len(decided), len(decided) - len(wrong)
