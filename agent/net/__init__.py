"""Outgoing connections: deadlines, the guard against inner addresses, limits. No pages, no models."""
