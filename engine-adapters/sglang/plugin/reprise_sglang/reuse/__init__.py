"""Reuse at any position: keys and values of text that was seen before, wherever it is in a prompt now."""
