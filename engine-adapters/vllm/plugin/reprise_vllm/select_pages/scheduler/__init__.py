"""The scheduler's side of page selection: private answers, and the sums of what workers count."""
