"""The four papers, item by item."""
