"""Roles of the reply flow."""
