"""contradiction."""
