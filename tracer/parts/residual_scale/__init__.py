"""A factor of what each sub-layer adds to its input (Granite)."""
