"""The terminal: output streams, the pager, progress, Ctrl-C."""
