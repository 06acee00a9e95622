"""One module for each format; each reads documents, expressions and nothing else."""
