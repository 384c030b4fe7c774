"""A training cluster of spot nodes."""
