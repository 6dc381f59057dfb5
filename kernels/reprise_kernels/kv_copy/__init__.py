"""Copies rows of keys and values between a device and host memory."""

from reprise_kernels.kv_copy.dispatch import rows_to_device, rows_to_host

__all__ = ["rows_to_device", "rows_to_host"]
