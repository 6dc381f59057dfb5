"""What reading fewer pages costs in answer quality and saves in time, in a real engine."""
