"""Stands in for the one function of vLLM that SGLang's generic code path imports where there is no accelerator."""
