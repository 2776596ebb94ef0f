"""One judgement a file: the shape of its reply, its fallback, and the role. No store, no tools, no clock."""
