"""The rows of loads: kept in the engine's pages and in host memory, chosen, and computed again."""
