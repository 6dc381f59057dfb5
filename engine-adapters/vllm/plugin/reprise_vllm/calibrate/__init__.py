"""Derives uncertainty thresholds for backtracking (CHESS, 3.3) from what a model writes with full attention."""
