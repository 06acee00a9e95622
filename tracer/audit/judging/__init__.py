"""Whether an equation holds, why it may be right nevertheless, and what is reported."""
