"""What outlives the process: runs, steps, pages, model calls, drafts; as tables and JSON."""
