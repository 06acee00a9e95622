"""The worked lines of one number: operations in symbols, then with numbers."""
