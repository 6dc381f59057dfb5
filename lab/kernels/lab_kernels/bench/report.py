"""Formats rows as a table."""

from lab_kernels.bench.measure import Row

TITLES = ("case", "ms", "rate", "of the ceiling", "beside")


HEADING = "".join(f"| {' | '.join(cells)} |\n" for cells in (TITLES, ("---",) * len(TITLES)))


def render(row: Row) -> str:
    """Returns a line of a Markdown table; a rival's ratio above 1 says how many times longer it takes."""
    return f"| {' | '.join(_cells(row))} |\n"


def _cells(row: Row) -> tuple[str, ...]:
    rate = "" if row.rate is None else f"{row.rate:,.0f} {row.unit}"
    share = "" if row.share is None else f"{row.share:.0%}"
    rivals = [f"{name}: {ms:.4g} ms, {ms / row.milliseconds:.2f} times" for name, ms in row.rivals.items()]
    absent = [f"{name}: could not run ({why})" for name, why in row.absent.items()]
    return row.name, f"{row.milliseconds:.4g}", rate, share, "; ".join([*rivals, *absent])
