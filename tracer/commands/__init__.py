"""The commands, each in a file of its own: its options, its help, its answer and what it costs."""
