"""Page selection during decoding: `--decode-attention-backend reprise_torch_native`."""

BACKEND = "reprise_torch_native"
