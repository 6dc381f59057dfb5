"""Preprocessing: documents computed behind other documents before they are asked for (FusionRAG §3.1)."""
