"""Stored rows: kept in the engine's pages and in host memory, they fill the pages of loads."""
