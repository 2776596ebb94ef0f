"""Roles of the chat flows."""
