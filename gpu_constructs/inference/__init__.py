"""Nodes that answer requests with a model: model servers, the load balancer in front of them, how they scale."""
