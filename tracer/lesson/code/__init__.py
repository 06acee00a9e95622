"""The code beside the text: a trace as a program in NumPy or PyTorch."""
