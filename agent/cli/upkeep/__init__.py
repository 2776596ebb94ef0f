"""Commands for whoever runs a server: backups, and the keys that secrets are kept with."""
