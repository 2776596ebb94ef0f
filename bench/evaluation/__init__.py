"""Evaluation of a world by its questions: runs, scores, metrics."""
