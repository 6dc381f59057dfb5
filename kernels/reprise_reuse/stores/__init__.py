"""Stores that several engines share: a folder, or the memory of a cluster."""
