"""The experiments of the four papers, claim by claim: what they print, run again with jointclust."""
