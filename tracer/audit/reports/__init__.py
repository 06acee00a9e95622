"""Findings for a reader and for programs."""
