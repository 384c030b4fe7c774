"""A training cluster in a Capacity Block."""
