"""Chooses among clustering methods without labels."""
