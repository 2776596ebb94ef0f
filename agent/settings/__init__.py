"""Every setting from outside a run: environment, files, the Settings screen, and where each key may go."""
