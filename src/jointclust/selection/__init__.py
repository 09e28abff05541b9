"""Which of several methods or settings to take, without labels."""
