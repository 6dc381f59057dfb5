"""Exact reuse where layers with windows or states keep only checkpoints of a prefix."""
