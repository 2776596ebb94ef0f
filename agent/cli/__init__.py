"""Commands of the command line that have a file of their own, and how all of them tell what happens."""
