"""The normaliser that users have as well, under the name that the snapshot tests know."""

from gpu_constructs.testing import normalize as normalise

__all__ = ["normalise"]
