"""Export formats: files made from a report. Nothing here reads the store or judges evidence."""
