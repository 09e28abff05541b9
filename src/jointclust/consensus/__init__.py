"""The partition that many fits on several views of the data agree on."""
