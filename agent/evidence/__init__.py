"""The evidence rules as pure functions of facts and text. They know no store, no web, no model and no
clock."""
