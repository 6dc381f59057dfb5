"""Preprocessing: computes documents after other documents before anyone asks for them (FusionRAG §3.1)."""
