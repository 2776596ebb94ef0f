"""What code can tell of a claim and its quotes: whether it is quoted or computed, vetoes and doubts."""
