"""What the columns are, and the rows that the methods want: kinds, views, categories, gaps, text."""
