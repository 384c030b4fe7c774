"""A local AWS to deploy to without an account."""
