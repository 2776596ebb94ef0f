"""Readers of documents: one file a format, run in a process of their own (`agent.web.parser_pool`)."""
