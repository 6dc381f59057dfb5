"""What vLLM has cached and evicted, as it is reported to the proxy."""
