"""How one number is worked: operations in symbols, then as lines of numbers."""
