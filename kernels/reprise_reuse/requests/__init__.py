"""What an engine's requests reuse and what is stored of them, decided alike for every engine."""
