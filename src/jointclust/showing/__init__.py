"""What a user looks at: plots and the report."""
