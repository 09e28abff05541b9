"""What estimators share, by kind: alternating, soft, embedding first."""
