"""Trained models: a checkpoint's files → its architecture, its parameters, its tokenizer."""
