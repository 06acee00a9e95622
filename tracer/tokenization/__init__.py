"""Text → tokens, each merge on the way, and back."""
