"""Whole texts: forward pass, training, tutorial, worksheet, page and the others."""
