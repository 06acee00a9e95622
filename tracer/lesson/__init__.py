"""Explanation: Trace → Document, each step with its formula, worked lines and claims."""
