"""Trained models: the files of a checkpoint → what it is, its parameters, its tokenizer."""
