"""What reading fewer pages costs in answers, and what it saves in time, in a real engine."""
