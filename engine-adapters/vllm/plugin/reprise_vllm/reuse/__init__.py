"""Reuse of keys and values at any position inside vLLM: `"reuse"` in the connector's extra configuration."""
