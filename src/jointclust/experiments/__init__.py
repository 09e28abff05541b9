"""Methods x data sets x parameters x seeds, as one tidy table; and the papers' tables and figures made from such."""
