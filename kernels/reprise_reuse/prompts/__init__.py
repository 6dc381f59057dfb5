"""What is found in a prompt, claimed of it and stored from it, and whose it is."""
