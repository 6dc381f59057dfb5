"""The workers' side of page selection: which pages a step reads."""
