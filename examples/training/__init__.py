"""A training cluster."""
