"""Learns on planted data how well a partition agrees with what was planted."""
