"""A training cluster without a way to the internet."""
