"""Uses of the constructs, one folder each."""
