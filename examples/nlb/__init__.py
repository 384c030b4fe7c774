"""A Network Load Balancer."""
