"""Segments in a store that several engines share, found there by their content."""
