"""What a repository says of its audit: which files, which codes, what is known."""
