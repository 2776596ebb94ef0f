"""What a person sets on the Settings screen: the search engines, the model and the embedding model."""
