"""What code can tell of a claim and its quotes: whether it is quoted or computed, and where they differ."""
