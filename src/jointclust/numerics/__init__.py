"""Small dense problems, and partitions of rows: nothing here knows of estimators."""
