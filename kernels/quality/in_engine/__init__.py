"""Quality of reuse inside a real engine: a real model's answers under reuse beside those of full attention."""
