"""Touchstone as an MCP server: research, evidence and the library as tools of other programs."""
