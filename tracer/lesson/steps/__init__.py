"""The steps of a pass: all sentences about a kind of step, declared once."""
