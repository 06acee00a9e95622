"""From a text to its figures: the numbers that it prints, each with the address of its value."""
