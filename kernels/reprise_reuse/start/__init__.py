"""What is proved and measured when an engine starts, before anything is reused."""
