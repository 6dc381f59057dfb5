"""Where the plugin depends on vLLM internals beyond the connector interface."""

TESTED = ("0.32.0", "0.33.0")
"""the vLLM versions that the plugin was tested with"""
