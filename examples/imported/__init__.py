"""A training cluster beside what exists."""
