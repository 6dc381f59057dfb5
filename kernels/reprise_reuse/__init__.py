"""Reuse of cached keys and values at any position: which segments are held, which tokens are recomputed."""
