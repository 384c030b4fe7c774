"""Nodes with GPUs: the launch template that describes one and the Auto Scaling group that keeps several."""
