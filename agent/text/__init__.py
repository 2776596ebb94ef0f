"""Text as words, sentences, passages, names: pure functions of strings and the nouns of `types`."""
