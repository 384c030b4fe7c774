"""Workers that a queue feeds."""
