"""Softmax in blocks of keys, with a running maximum and sum (Milakov and Gimelshein 2018)."""
