"""The API for programs over HTTP: what a person can do on the screens, with a token and below `/api/v1`."""
