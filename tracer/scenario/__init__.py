"""The scenario: its schema, its YAML, and the checks of its parts."""
