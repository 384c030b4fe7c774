"""A training cluster of p3dn.24xlarge nodes."""
