"""What outlives the process: runs and their steps, pages, model calls, drafts. It knows tables and JSON, not
what a step means."""
