"""Arithmetic as an expression: how it is evaluated, written out and differentiated."""
