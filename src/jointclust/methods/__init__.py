"""One paper per file: the formula, its steps, its estimators."""
