"""What reuse costs in answers, measured."""
