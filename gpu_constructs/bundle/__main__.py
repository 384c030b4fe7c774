"""`python -m gpu_constructs.bundle` fetches the libraries of the bundle."""

from gpu_constructs.bundle import vendor

vendor.fill()
