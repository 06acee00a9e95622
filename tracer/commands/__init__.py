"""The command line: its commands, and how they answer wrong usage."""
