"""Kernels for reusing cached context at any position; each folder holds one operation: specification and kernel."""
