"""Compare the numbers of a text, or the arrays of another program, with a trace."""
