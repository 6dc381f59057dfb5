"""Reuses keys and values at any position in vLLM: set `"reuse"` in the connector's extra configuration."""
