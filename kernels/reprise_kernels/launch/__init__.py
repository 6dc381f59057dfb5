"""What an operation needs to launch a kernel: checks of its arguments, launch configurations, and CUDA C++."""
