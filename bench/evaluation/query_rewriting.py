"""Scores query rewriting on a set of follow-ups, each with the rewrite a person wrote; no documents.

Two texts are compared with the person's rewrite: the question that is shown ("Read as: …") and the longest
text that is searched for. Where no rewrite is needed, the unchanged turn is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agent.roles.chat import REWRITE, RewriteReply
from agent.roles.role import AskModel
from agent.text.word_lists import STOPWORDS
from agent.types import Turn
from bench.evaluation.metrics import mean_of, normalize_answer, round_metrics, token_f1

_WORDS = re.compile(r"\w+")


def score_rewrite(question: Mapping[str, Any], history: list[Turn], model: AskModel | None) -> dict[str, Any]:
    """Scores of one turn: the rewritten question, its longest search, how both agree with the person's."""
    said, human = str(question["question"]), str(question["rewrite"])
    blanks: dict[str, Any] = {
        "question": said,
        "history": history,
        "angle": "",
        "tried": [],
        "found": [],
        "titles": [],
    }
    reply: RewriteReply = REWRITE.judge(model, **blanks).value
    read_as = reply.query or said
    searched = f"{history[-1].user} {said}" if history and read_as == said else read_as
    return {
        "id": question["id"],
        "needs_rewrite": bool(
            question.get("needs_rewrite", normalize_answer(human) != normalize_answer(said))
        ),
        "follow_up": bool(history),
        "read_as": read_as,
        "searched": searched,
        "untouched": normalize_answer(read_as) == normalize_answer(said),
        "rewrite_f1": token_f1(read_as, human),
        "copied_f1": token_f1(said, human),
        "added_recall": added_recall(said, human, searched),
        "length_ratio": _count_words(searched) / max(1, _count_words(human)),
        "read_added_recall": added_recall(said, human, read_as),
        "read_length_ratio": _count_words(read_as) / max(1, _count_words(human)),
    }


def added_recall(said: str, human: str, made: str) -> float | None:
    """Of the content words that the person's rewrite adds to the turn, the share in `made`; None for none."""
    wanted = _content_words(human) - _content_words(said)
    return sum((wanted & _content_words(made)).values()) / sum(wanted.values()) if wanted else None


def _content_words(text: str) -> Counter[str]:
    return Counter(word for word in _WORDS.findall(text.lower()) if word not in STOPWORDS)


def _count_words(text: str) -> int:
    return len(_WORDS.findall(text))


def compute_metrics(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The means over a set, shares between 0 and 1: `rewrite_*` where a rewrite is needed, `alone_*` over
    follow-ups that need none."""
    needed = [row for row in rows if row["needs_rewrite"]]
    alone = [row for row in rows if not row["needs_rewrite"] and row["follow_up"]]
    return round_metrics(
        {
            "rewrite_f1": mean_of(needed, "rewrite_f1"),
            "rewrite_f1_of_copying": mean_of(needed, "copied_f1"),
            "rewrite_added_recall": mean_of(needed, "added_recall"),
            "rewrite_length_ratio": mean_of(needed, "length_ratio"),
            "rewrite_added_recall_as_read": mean_of(needed, "read_added_recall"),
            "rewrite_length_ratio_as_read": mean_of(needed, "read_length_ratio"),
            "alone_untouched": mean_of(alone, "untouched"),
            "alone_f1": mean_of(alone, "rewrite_f1"),
        }
    )
