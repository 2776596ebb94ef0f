"""Many questions from a table, each asked as a run, within one budget."""
