"""Stands in for the one function of vLLM that SGLang's generic code path imports if there is no accelerator."""
