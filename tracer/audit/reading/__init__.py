"""Text → passages → tokens → expressions → equations."""
