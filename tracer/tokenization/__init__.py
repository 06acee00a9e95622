"""Text → tokens with every merge, and tokens → text."""
