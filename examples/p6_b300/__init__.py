"""A cluster of p6-b300.48xlarge, whose network card 0 has no EFA."""
