"""What was reused and read: in the usage of an answer, and in vLLM's own metrics."""
