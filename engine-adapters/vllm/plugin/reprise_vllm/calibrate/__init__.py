"""Thresholds of uncertainty for backtracking (CHESS, 3.3), from what a model writes by full attention."""
