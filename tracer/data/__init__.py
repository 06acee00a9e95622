"""A trace as data: JSON, arrays, one number as text."""
