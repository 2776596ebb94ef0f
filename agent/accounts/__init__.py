"""The people who sign in to this server: who they are, what they may, what they did. Their runs are not here:
each person has a store of their own."""
