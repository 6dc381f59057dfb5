"""Shared by tests and benchmark: comparison with a float64 specification, and poison where nothing may be read."""

import torch

# relative error: root mean square, and worst element against the largest one
TOLERANCES = {torch.float32: (1e-5, 1e-4), torch.float16: (2e-3, 1e-2), torch.bfloat16: (1.5e-2, 6e-2)}


def assert_close(
    name: str, actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype | None = None, unit: float = 1e-6
) -> None:
    """Raises AssertionError unless `actual` is finite and as close to the float64 `expected` as its dtype allows.

    Errors are relative to the size of `expected`, or to `unit` if that is larger: a log-sum-exp near 0 comes from a sum
    near 1 and has an absolute error.
    """
    rms_limit, worst_limit = TOLERANCES[dtype or actual.dtype]
    actual, expected = actual.detach().double().cpu(), expected.double().cpu()
    assert actual.shape == expected.shape, f"{name}: shape {tuple(actual.shape)}, not {tuple(expected.shape)}"
    assert torch.equal(actual.isfinite(), expected.isfinite()), f"{name}: not finite where it should be, or the reverse"
    if actual.numel() == 0:
        return
    difference = torch.where(expected.isfinite(), actual - expected, 0.0)
    size = torch.where(expected.isfinite(), expected, 0.0)
    rms = float(difference.pow(2).mean().sqrt() / max(float(size.pow(2).mean().sqrt()), unit))
    worst = float(difference.abs().max() / max(float(size.abs().max()), unit))
    assert rms <= rms_limit, f"{name}: RMS error {rms:.2e} is over {rms_limit:.0e} (worst {worst:.2e})"
    assert worst <= worst_limit, f"{name}: worst error {worst:.2e} is over {worst_limit:.0e} (RMS {rms:.2e})"


def poisoned(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> torch.Tensor:
    """A tensor of NaN: reading where nothing may be read shows in the result."""
    return torch.full(shape, float("nan"), dtype=dtype, device=device)
