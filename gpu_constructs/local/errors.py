"""What can go wrong with the local AWS, said in one line that tells what to do."""

from __future__ import annotations


class LocalAwsError(RuntimeError):
    """The local AWS, or the CDK command line against it, could not do what was asked."""
