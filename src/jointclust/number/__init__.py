"""Estimates the number of clusters."""
