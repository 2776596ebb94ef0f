"""Roles of the research flow."""
