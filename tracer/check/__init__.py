"""Others' figures: those that a text prints, or another program computed, held against a trace."""
