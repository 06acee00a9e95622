"""PyTorch models: their values under our addresses, and their weights as a scenario.

PyTorch is imported only once a model is handed in.
"""
