"""Measures how reuse affects answers."""
