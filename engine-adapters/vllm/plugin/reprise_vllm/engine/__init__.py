"""Where the plugin depends on vLLM internals beyond the connector interface. Written for vLLM 0.32."""
