"""Segments on disk."""
