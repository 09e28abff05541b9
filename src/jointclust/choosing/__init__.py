"""Many fits: what they agree on, how many clusters, which of them to take."""
