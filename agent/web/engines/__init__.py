"""Search engines, one file each. They answer with typed results and never raise for what the web does."""
