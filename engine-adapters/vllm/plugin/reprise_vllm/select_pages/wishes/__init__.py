"""What the operator and a request ask of page selection."""
