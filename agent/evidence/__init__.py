"""The evidence rules: pure functions of facts and text, without store, web, model or clock."""
