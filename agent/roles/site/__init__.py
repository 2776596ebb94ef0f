"""Roles of the site flow."""
