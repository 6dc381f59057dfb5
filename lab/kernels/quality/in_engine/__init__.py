"""Quality of reuse inside a real engine: a real model's answers under reuse against those of full attention."""
