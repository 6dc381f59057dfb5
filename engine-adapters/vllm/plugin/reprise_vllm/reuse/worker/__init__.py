"""The workers' side of reuse: fills the pages of claimed rows, and stores rows."""
