"""HotPrefix in SGLang's own prefix cache: what is used often stays on the GPU, and only that goes to the host."""
