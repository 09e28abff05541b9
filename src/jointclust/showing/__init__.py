"""What a user looks at: plots, explanations and the report."""
