"""Roles of the collect flow."""
