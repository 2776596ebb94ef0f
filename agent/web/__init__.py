"""The hands that touch the web: worlds to search and fetch in. Knows nothing of models, roles or runs."""
