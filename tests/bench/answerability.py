"""Fits and checks the estimate of `agent/retrieval/answerability.py`: do the passages found for a question
answer it?

    python -m tests.bench.answerability DIR [DIR ...]        folders with docs and questions that say whether they are answerable

Each question's passages are searched for as the chat's first search does; the inputs are counted, and a
logistic regression with equal weight to both classes of every folder is fitted by Newton's method with a
small ridge. What is printed for each folder: the balanced accuracy and area under the curve of the weights in
use, and those out of fold (ten folds) of weights fitted anew; then the new weights."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from agent.evaluation.runner import EvaluationJob, open_workbench, parse_history, read_questions
from agent.flows.chat.retrieve import MAX_PASSAGES
from agent.retrieval.answerability import COEFFICIENTS, compute_features, count_passage_terms
from agent.retrieval.query_rewriting import build_search_texts
from agent.retrieval.term_rarity import compute_idf
from agent.text.question_analysis import parse_question

FOLDS, RIDGE = 10, 1.0


def counted(folder: str) -> tuple[np.ndarray, np.ndarray]:
    """The inputs of each question of a folder, and whether it is answerable."""
    rows, labels = [], []
    with tempfile.TemporaryDirectory() as scratch:
        bench = open_workbench(EvaluationJob(world=folder, flow="chat", keep=scratch))
        for question in read_questions(Path(folder)):
            if question.get("answerable") is None:
                continue
            text = build_search_texts(question["question"], parse_history(question.get("history", [])))[-1]
            asked = parse_question(text)
            passages = bench.library.search(text, MAX_PASSAGES).hits
            weights = compute_idf(list(asked.weights), bench.library.count_terms(list(asked.weights)))
            values = (
                compute_features(asked, count_passage_terms(passages, weights), weights)
                if passages
                else {"intercept": 1.0}
            )
            rows.append([values.get(name, 0.0) for name in COEFFICIENTS])
            labels.append(bool(question["answerable"]))
        bench.shutdown()
    return np.array(rows), np.array(labels, dtype=float)


def fitted(rows: np.ndarray, labels: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The weights; the ridge spares the intercept (the first)."""
    weights = np.zeros(rows.shape[1])
    ridge = RIDGE * np.eye(rows.shape[1])
    ridge[0, 0] = 0.0
    for _ in range(50):
        told = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (share * (labels - told)) - ridge @ weights
        weights = weights + np.linalg.solve(
            (rows * (share * told * (1 - told))[:, None]).T @ rows + ridge, slope
        )
    return weights


def shares(labels: np.ndarray, of_folder: np.ndarray) -> np.ndarray:
    """What each question weighs, so that both classes of each folder weigh the same; 1 on average."""
    share = np.zeros(len(labels))
    for name in set(of_folder):
        for label in (0.0, 1.0):
            here = (of_folder == name) & (labels == label)
            share[here] = 1 / max(1, here.sum())
    return share * len(labels) / share.sum()


def balanced(logits: np.ndarray, labels: np.ndarray) -> float:
    """The mean of the shares told right in each class."""
    return float(np.mean([np.mean((logits[labels == label] >= 0) == label) for label in (0.0, 1.0)]))


def area(logits: np.ndarray, labels: np.ndarray) -> float:
    """The area under the ROC curve: how often an answerable question stands above one that is not."""
    yes, no = logits[labels == 1], logits[labels == 0]
    return float(np.mean((yes[:, None] > no[None, :]) + 0.5 * (yes[:, None] == no[None, :])))


def main(folders: list[str]) -> None:
    """Count, fit, print."""
    parts = [counted(folder) for folder in folders]
    rows, labels = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    of_folder = np.concatenate([np.full(len(part[1]), n) for n, part in enumerate(parts)])
    fold = np.random.default_rng(0).permutation(len(labels)) % FOLDS
    out = np.zeros(len(labels))
    for n in range(FOLDS):
        rest = fold != n
        out[~rest] = rows[~rest] @ fitted(rows[rest], labels[rest], shares(labels[rest], of_folder[rest]))
    used = rows @ np.array(list(COEFFICIENTS.values()))
    print(f"{'folder':<24} {'n':>5}   in use: balanced  AUROC   out of fold: balanced  AUROC")
    for n, folder in enumerate(folders):
        here = of_folder == n
        told = [figure(logits[here], labels[here]) for logits in (used, out) for figure in (balanced, area)]
        print(
            f"{Path(folder).name:<24} {here.sum():>5}           {told[0]:.4f}  {told[1]:.4f}                {told[2]:.4f}  {told[3]:.4f}"
        )
    print(
        {
            name: round(float(value), 2)
            for name, value in zip(COEFFICIENTS, fitted(rows, labels, shares(labels, of_folder)), strict=True)
        }
    )


if __name__ == "__main__":
    main(sys.argv[1:])
