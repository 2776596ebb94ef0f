"""Commands that change the answer of a run."""
