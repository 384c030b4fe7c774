"""Clusters that train models."""
