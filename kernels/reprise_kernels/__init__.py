"""Kernels for reusing cached context at any position. Each folder holds one operation, or what operations share."""
