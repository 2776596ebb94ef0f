"""What a run looks like when it leaves: files made from a report. Nothing here reads the store or judges
evidence."""
