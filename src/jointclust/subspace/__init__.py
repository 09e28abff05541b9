"""The rows in their eigenbasis, directions in it, where a run starts, and the one loop."""
