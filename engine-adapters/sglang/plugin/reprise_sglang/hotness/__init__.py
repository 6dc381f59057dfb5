"""HotPrefix in SGLang's own prefix cache: prefixes in frequent use stay on the GPU, and only they go to the host."""
