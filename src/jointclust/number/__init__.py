"""How many clusters the data show."""
