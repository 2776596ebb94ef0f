"""Language models: one OpenAI-compatible server, one retry layer, strict replies. Knows no role."""
