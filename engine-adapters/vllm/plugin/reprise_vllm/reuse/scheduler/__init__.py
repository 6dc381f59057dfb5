"""The scheduler's side of reuse: finds what a prompt repeats, claims it, and decides what is stored where."""
