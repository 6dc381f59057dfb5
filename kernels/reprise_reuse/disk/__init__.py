"""Segments on disk. Its files are safetensors, a package that every engine brings."""
