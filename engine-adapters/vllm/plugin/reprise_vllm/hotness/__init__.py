"""HotPrefix in vLLM: blocks in frequent use are evicted last, and only they go to the host."""
