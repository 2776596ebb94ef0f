"""Readers of documents that are no text: one file a format. They run in a process of their own (see
`agent.web.parser_pool`)."""
