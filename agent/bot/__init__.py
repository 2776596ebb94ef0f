"""`reply` as a service for bots: conversations in, replies or silence out."""
