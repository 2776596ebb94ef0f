"""Access to the web: worlds to search and fetch in. It knows no models, roles or runs."""
