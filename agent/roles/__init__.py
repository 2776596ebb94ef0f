"""One judgement a file: the reply's shape, its keyless form, and the role. No store, no tools, no clock."""
