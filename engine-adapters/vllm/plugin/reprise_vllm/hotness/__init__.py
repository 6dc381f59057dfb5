"""HotPrefix in vLLM: what is used often is evicted last, and only that goes to the host."""
