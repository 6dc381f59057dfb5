"""What an operation needs to launch a kernel: checks of its arguments, and launch configurations."""
