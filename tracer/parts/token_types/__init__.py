"""A vector for each type of token, which is added to the embeddings (BERT, Devlin et al. 2019)."""
